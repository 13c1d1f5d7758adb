// Which documents the site has, in the order in which they are read.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files of the repository by their part; what is not there is left out of no part silently. */
const PARTS = [
  [
    "Start",
    [
      "README.md",
      "docs/install.md",
      "docs/usage.md",
      "docs/capturing.md",
      "docs/page.md",
      "docs/both-ends.md",
      "docs/quic.md",
      "docs/keys.md",
    ],
  ],
  ["Understand", ["casebook/README.md", "docs/glossary.md", "docs/ideas.md", "docs/accuracy.md", "samples/README.md"]],
  ["Reproduce", ["docs/lab.md", "docs/prove.md", "docs/predict.md"]],
  ["Watch and ask", ["docs/live.md", "docs/host.md"]],
  [
    "Use elsewhere",
    [
      "docs/wireshark.md",
      "docs/mcp.md",
      "docs/json.md",
      "docs/tables.md",
      "docs/evidence.md",
      "docs/export.md",
      "docs/python.md",
      "docs/spark.md",
      "docs/cluster.md",
      "docs/gateway.md",
      "docs/gateway-format.md",
    ],
  ],
  [
    "Work on it",
    ["ARCHITECTURE.md", "docs/flows.md", "docs/performance.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ],
];

/** Where a document of the repository is on the site. */
export const addressOf = (path) => (path === "README.md" ? "index.html" : path.replace(/\.md$/, ".html"));

const titleOf = (text, path) => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? path;

/** The causes, by their public names: the comment that a rule's file begins with. */
function causes(root) {
  const core = join(root, "crates/whyslow-core/src");
  const list = readFileSync(join(core, "cause.rs"), "utf8");
  return [...list.matchAll(/^ *([a-z_]+) [A-Za-z]+ "([a-z-]+)",$/gm)].map(([, file, slug]) => {
    const lines = readFileSync(join(core, "rules", `${file}.rs`), "utf8").split("\n");
    const end = lines.findIndex((line) => !line.startsWith("//!"));
    const text = lines.slice(0, end).map((line) => line.replace(/^\/\/! ?/, ""));
    const blank = text.indexOf("");
    const said = text.slice(0, blank).join(" ").replace(/^# /, "");
    const seen = existsSync(join(root, "casebook", `${slug}.md`))
      ? `\n\n## A case\n[A transfer with this cause, packet by packet](../casebook/${slug}.md)\n`
      : "";
    const source = `# ${slug}\n\n**${said}**\n\n${text.slice(blank + 1).join("\n")}${seen}`;
    return { path: `causes/${slug}.md`, source, title: slug, part: "Causes" };
  });
}

/** All documents: `path` in the repository, `source` as Markdown, `title`, `part`. */
export function documents(root) {
  const listed = PARTS.flatMap(([part, paths]) =>
    paths.map((path) => {
      const source = readFileSync(join(root, path), "utf8");
      return { path, source, title: titleOf(source, path), part };
    }),
  );
  const forgotten = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .filter((name) => !listed.some(({ path }) => path === `docs/${name}`));
  if (forgotten.length > 0) throw new Error(`site/pages.mjs names no part for docs/${forgotten.join(", docs/")}`);
  const cases = readdirSync(join(root, "casebook"))
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => {
      const source = readFileSync(join(root, "casebook", name), "utf8");
      return { path: `casebook/${name}`, source, title: titleOf(source, name), part: "Casebook" };
    });
  const list = causes(root);
  const index = {
    path: "causes/README.md",
    source: `# The causes\n\nWhat whyslow finds, by name. Each says how it is recognised, what it is confused with, and what to do.\n\n${list
      .map(({ title, source }) => `- [${title}](${title}.md): ${/\*\*(.+)\*\*/.exec(source)?.[1]}`)
      .join("\n")}\n`,
    title: "The causes",
    part: "Understand",
  };
  return [...listed, index, ...cases, ...list];
}
