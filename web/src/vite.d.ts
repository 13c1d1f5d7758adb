// What vite makes of an import: a worker whose script is in the page itself.
declare module "*?worker&inline" {
  const script: new () => Worker;
  export default script;
}
