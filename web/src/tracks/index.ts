export { Tracks } from "./view";
