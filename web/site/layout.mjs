// What is around a document: who is where, and the way to everything else.
import { posix } from "node:path";
import { addressOf } from "./pages.mjs";

const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** A part of the navigation; of a long one the names are short. */
function part(name, documents, address, link) {
  const isHere = documents.some((one) => addressOf(one.path) === address);
  const items = documents.map((one) => {
    const to = addressOf(one.path);
    const here = to === address ? ' aria-current="page"' : "";
    const title = name === "Casebook" ? posix.basename(one.path, ".md") : one.title;
    return `<li><a href="${link(to)}"${here}>${escaped(title)}</a></li>`;
  });
  const isLong = documents.length > 20;
  return `<details${isHere || !isLong ? " open" : ""}><summary>${escaped(name)}</summary><ul>${items.join("")}</ul></details>`;
}

function navigation(all, address, link) {
  const names = [...new Set(all.map((one) => one.part))];
  return names
    .map((name) =>
      part(
        name,
        all.filter((one) => one.part === name),
        address,
        link,
      ),
    )
    .join("");
}

const START = (link) => `<section class="start">
<p>A packet capture goes in; why each TCP transfer was slow comes out, with the evidence and the fix.</p>
<p><a class="try" href="${link("try.html")}">Try it in this browser</a> <span>Nothing is uploaded, nothing is installed.</span></p>
</section>`;

/** A page of the site. */
export function layout({ document, address, body, all, around: [before, after] }) {
  const link = (to) => posix.relative(posix.dirname(address), to) || posix.basename(to);
  const root = link("assets/site.css").replace(/assets\/site\.css$/, "");
  const step = (one, rel, sign) =>
    one ? `<a rel="${rel}" href="${link(addressOf(one.path))}">${sign(escaped(one.title))}</a>` : "<span></span>";
  const isStart = address === "index.html";
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isStart ? "whyslow: why a TCP transfer was slow" : `${escaped(document.title)} – whyslow`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${link("assets/site.css")}">
<script src="${link("assets/site.js")}"></script>
</head>
<body>
<header>
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation">Contents</button>
<a class="brand" href="${link("index.html")}">why<b>slow</b></a>
<div class="search" role="search">
<input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" aria-controls="results">
<ol id="results" hidden></ol>
</div>
<a class="try" href="${link("try.html")}">Try it</a>
<button type="button" class="theme">◐</button>
</header>
<nav id="navigation" aria-label="Documents">${navigation(all, address, link)}</nav>
<main>
${isStart ? START(link) : ""}
<article>
${body}</article>
<footer>${step(before, "prev", (title) => `‹ ${title}`)}${step(after, "next", (title) => `${title} ›`)}</footer>
</main>
</body>
</html>
`;
}
