// The program under test: target/debug/whyslow, or what WHYSLOW names.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const program = process.env.WHYSLOW ?? join(root, "target/debug/whyslow");
if (!existsSync(program)) throw new Error(`${program} is not there: cargo build -p whyslow`);

export const folder = mkdtempSync(join(tmpdir(), "whyslow-page-"));
export const sample = (name) => join(root, "samples", `${name}.pcap`);

/** What the program prints. */
export const run = (...args) =>
  execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
export const json = (...files) => JSON.parse(run("--json", ...files));

/** A report in a file. */
export function report(name, ...files) {
  const path = join(folder, `${name}.html`);
  run("report", ...files, "-o", path);
  return path;
}

/** `whyslow view`: its address, and how to end it. */
export const view = (...files) => serve(["view", ...files]);

/** The program with these arguments, which serves the page; `input` comes through its stdin. */
export function serve(args, input) {
  const child = spawn(program, args, { stdio: [input ? "pipe" : "ignore", "pipe", input ? "pipe" : "inherit"] });
  if (input) child.stdin.end(input);
  let printed = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => (printed += text));
  const ended = new Promise((done) => child.on("exit", (code) => done(code)));
  const end = () => {
    child.kill("SIGINT");
    return ended;
  };
  return new Promise((done, failed) => {
    child.stdout.setEncoding("utf8");
    child.stdout.once("data", (line) => done({ url: line.trim(), printed: () => printed, end }));
    ended.then((code) => failed(new Error(`whyslow ${args[0]} ended with ${code}: ${printed}`)));
  });
}
