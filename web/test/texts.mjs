// The texts in the page's source: what `zh.ts` must translate.
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

const CHINESE = ["zh.ts", "zh-graphs.ts"];
const SOURCE = new URL("../src/", import.meta.url);

/** Tables whose entries are translated where they are shown. */
const TABLES = new Set(["ECN", "GRAPHS", "GROUP_NAMES", "KEYS", "KINDS", "SIGNS", "TERMS", "VERDICTS"]);

const parsed = (name) =>
  ts.createSourceFile(name, readFileSync(new URL(name, SOURCE), "utf8"), ts.ScriptTarget.ES2022, true);

/** A template's fixed parts, joined as `t` joins them. */
const keyOf = (template) =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.head.text + template.templateSpans.map((span) => `{}${span.literal.text}`).join("");

/** Every text with the file that it is in. */
export function texts() {
  const found = new Map();
  const files = readdirSync(SOURCE, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  for (const name of files) {
    // Signs of one letter are the same in every language.
    const add = (text) => /[a-z]{2}|[A-Z]s\b/.test(text) && found.set(text, name);
    let isTerms = false;
    const strings = (node) => {
      if (ts.isStringLiteral(node)) add(node.text);
      // A term stands before its meaning.
      if (ts.isPropertyAssignment(node) && node.name.text && isTerms) add(node.name.text);
      ts.forEachChild(node, strings);
    };
    const causes = (node) => {
      if (ts.isStringLiteral(node)) found.set(`cause: ${node.text}`, name);
      ts.forEachChild(node, causes);
    };
    const visit = (node) => {
      if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === "t") found.set(keyOf(node.template), name);
      if (ts.isVariableDeclaration(node) && TABLES.has(node.name.getText())) {
        isTerms = node.name.getText() === "TERMS";
        strings(node.initializer);
      }
      if (ts.isVariableDeclaration(node) && node.name.getText() === "CAUSES") causes(node.initializer);
      if (ts.isCallExpression(node) && node.expression.getText() === "count") {
        const what = node.arguments[1];
        if (what && ts.isStringLiteral(what)) found.set(`{} ${what.text}s`, name);
      }
      ts.forEachChild(node, visit);
    };
    if (!CHINESE.includes(name)) visit(parsed(name));
  }
  const limits = JSON.parse(readFileSync(new URL("limits.json", SOURCE), "utf8"));
  for (const { name, means } of Object.values(limits)) {
    found.set(name, "limits.json");
    found.set(means, "limits.json");
  }
  return found;
}

/** The texts that have a translation, with it. */
export function translations() {
  const found = new Map();
  const visit = (node) => {
    if (ts.isPropertyAssignment(node)) found.set(node.name.text, node.initializer.text);
    ts.forEachChild(node, visit);
  };
  for (const name of CHINESE) visit(parsed(name));
  return found;
}
