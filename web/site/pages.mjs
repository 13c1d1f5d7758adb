// Which documents the site has, in the order in which they are read.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files of the repository by their part; what is not there is left out of no part silently. */
const PARTS = [
  ["Start", ["README.md", "docs/README.md", "docs/tutorial.md", "docs/install.md"]],
  [
    "How to",
    [
      "docs/capturing.md",
      ...[
        "slow-api",
        "network-or-server",
        "uploads-to-s3",
        "far-database",
        "which-query",
        "http3",
        "vpn",
        "containers",
        "kubernetes",
        "windows",
        "ci",
        "archives",
        "share-a-report",
      ].map((name) => `docs/how-to/${name}.md`),
    ],
  ],
  [
    "Use",
    [
      "usage",
      "page",
      "both-ends",
      "quic",
      "keys",
      "requests",
      "evidence",
      "live",
      "host",
      "predict",
      "prove",
      "lab",
      "export",
      "wireshark",
      "mcp",
      "python",
      "spark",
      "cluster",
    ].map((name) => `docs/${name}.md`),
  ],
  [
    "Understand",
    [
      "casebook/README.md",
      ...["attribution", "confidence", "limits", "vantage"].map((name) => `docs/explanation/${name}.md`),
      "docs/accuracy.md",
      "docs/performance.md",
      "samples/README.md",
    ],
  ],
  [
    "Reference",
    [
      "docs/reference/options.md",
      "docs/reference/causes.md",
      "docs/json.md",
      "docs/reference/json.md",
      "docs/tables.md",
      "docs/reference/columns.md",
      "docs/reference/mcp.md",
      "docs/reference/metrics.md",
      "docs/reference/host-states.md",
      "docs/reference/scenario.md",
      "docs/reference/lab-figures.md",
      "docs/reference/condensed.md",
      "docs/reference/accuracy-run.md",
      "docs/glossary.md",
    ],
  ],
  [
    "The gateway",
    ["README", "operations", "clients", "sealing", "storage", "format"].map((name) => `docs/gateway/${name}.md`),
  ],
  ["Work on it", ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]],
];

/** Where a document of the repository is on the site. */
export const addressOf = (path) => (path === "README.md" ? "index.html" : path.replace(/\.md$/, ".html"));

const titleOf = (text, path) => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? path;

/** The causes, by their public names: the comment that a rule's file begins with. */
function causes(root) {
  const rules = join(root, "crates/whyslow-diagnosis/src/rules");
  const list = readFileSync(join(root, "crates/whyslow-analysis/src/cause.rs"), "utf8");
  return [...list.matchAll(/^ *([a-z_]+) [A-Za-z]+ "([a-z-]+)",$/gm)].map(([, file, slug]) => {
    const lines = readFileSync(join(rules, `${file}.rs`), "utf8").split("\n");
    const end = lines.findIndex((line) => !line.startsWith("//!"));
    const text = lines.slice(0, end).map((line) => line.replace(/^\/\/! ?/, ""));
    const blank = text.indexOf("");
    const printed = text.slice(0, blank).join(" ").replace(/^# /, "");
    const seen = existsSync(join(root, "casebook", `${slug}.md`))
      ? `\n\n## A case\n[A transfer with this cause, packet by packet](../casebook/${slug}.md)\n`
      : "";
    const source = `# ${slug}\n\n**${printed}**\n\n${text.slice(blank + 1).join("\n")}${seen}`;
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
  const forgotten = readdirSync(join(root, "docs"), { recursive: true })
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
    source: `# The causes\n\nAll causes, by name. Each page has its signs, similar causes, and the fix.\n\n${list
      .map(({ title, source }) => `- [${title}](${title}.md): ${/\*\*(.+)\*\*/.exec(source)?.[1]}`)
      .join("\n")}\n`,
    title: "The causes",
    part: "Understand",
  };
  return [...listed, index, ...cases, ...list];
}
