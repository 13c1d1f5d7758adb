// The documentation as pages: Markdown of the repository, its links turned into those of the site.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";
import { layout } from "./layout.mjs";
import { addressOf, documents } from "./pages.mjs";

/** Where files are that the site does not have. */
export const REPOSITORY = "https://github.com/whyslow/whyslow/blob/main/";
const PICTURE = /\.(png|svg|jpg|gif|webp)$/;

const relative = (from, to) => posix.relative(posix.dirname(from), to) || posix.basename(to);

/** Headings have the names that the repository's host gives them. */
function nameHeadings(tokens) {
  const slugger = new GithubSlugger();
  const sections = [{ heading: "", anchor: "", text: [] }];
  tokens.forEach((token, at) => {
    if (token.type === "heading_open") {
      const text = plain(tokens[at + 1]);
      token.attrSet("id", slugger.slug(text));
      sections.push({ heading: text, anchor: `#${token.attrGet("id")}`, text: [] });
    } else if (token.type === "inline" && tokens[at - 1]?.type !== "heading_open") {
      sections.at(-1).text.push(plain(token));
    } else if (token.type === "fence" || token.type === "code_block") {
      sections.at(-1).text.push(token.content);
    }
  });
  return sections;
}

const plain = (inline) => inline.children.map((token) => (token.type === "softbreak" ? " " : token.content)).join("");

/** Turns the links and pictures of a document into the site's; gives the pictures. */
function turnLinks(tokens, path, known) {
  const pictures = [];
  for (const token of tokens.flatMap((token) => token.children ?? [])) {
    const attribute = token.type === "link_open" ? "href" : token.type === "image" ? "src" : null;
    const link = attribute && token.attrGet(attribute);
    if (!link || /^[a-z]+:|^#/.test(link)) continue;
    const [file, fragment] = link.split("#");
    const target = posix.normalize(posix.join(posix.dirname(path), decodeURI(file)));
    const anchor = fragment === undefined ? "" : `#${fragment}`;
    if (known.has(target)) token.attrSet(attribute, relative(addressOf(path), addressOf(target)) + anchor);
    else if (PICTURE.test(target)) {
      pictures.push(target);
      token.attrSet(attribute, relative(addressOf(path), target));
    } else token.attrSet(attribute, REPOSITORY + target + anchor);
  }
  return pictures;
}

/** Wide tables move in themselves, and the page does not. */
function wrapTables(markdown) {
  markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>';
  markdown.renderer.rules.table_close = () => "</table></div>";
}

/** Pages whose content has pages of its own on the site: the search finds those. */
const NOT_SEARCHED = new Set(["docs/reference/causes.md"]);

/** Writes all pages; returns the sections for the search. */
export function writeDocs(root, folder) {
  const markdown = new MarkdownIt({ linkify: true });
  wrapTables(markdown);
  const all = documents(root);
  const known = new Set(all.map(({ path }) => path));
  const searched = [];
  all.forEach((document, at) => {
    const { path, source, title } = document;
    const tokens = markdown.parse(source, {});
    const sections = nameHeadings(tokens);
    for (const picture of turnLinks(tokens, path, known)) {
      if (!existsSync(join(root, picture))) throw new Error(`${path} shows ${picture}, which is not there`);
      mkdirSync(dirname(join(folder, picture)), { recursive: true });
      copyFileSync(join(root, picture), join(folder, picture));
    }
    const address = addressOf(path);
    for (const { heading, anchor, text } of sections) {
      const words = text.join(" ").trim();
      if ((heading || words) && !NOT_SEARCHED.has(path))
        searched.push({ title, heading, address: address + anchor, text: words });
    }
    const to = join(folder, address);
    mkdirSync(dirname(to), { recursive: true });
    const body = markdown.renderer.render(tokens, markdown.options, {});
    writeFileSync(to, layout({ document, address, body, all, around: [all[at - 1], all[at + 1]] }));
  });
  return searched.map((section, id) => ({ id, ...section }));
}

/** What every page loads. */
export function writeAssets(root, folder, searched) {
  const assets = join(folder, "assets");
  mkdirSync(assets, { recursive: true });
  const read = (path) => readFileSync(join(root, "web", path), "utf8");
  writeFileSync(join(assets, "site.css"), read("src/style/colors.css") + read("site/site.css"));
  writeFileSync(join(assets, "site.js"), read("site/site.js"));
  const search = read("node_modules/minisearch/dist/umd/index.js").replace(/^\/\/# sourceMappingURL.*$/m, "");
  writeFileSync(join(assets, "search.js"), `${search}\nwindow.SECTIONS = ${JSON.stringify(searched)};\n`);
}
