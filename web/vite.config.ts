// One HTML file that loads nothing: scripts and styles go into it, and its policy names them by
// their hashes.
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html");
      let script = "";
      let style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code;
        else if (name.endsWith(".css")) style += file.source;
        else continue;
        delete bundle[name];
      }
      // What closes the element must not stand in it.
      script = script.replaceAll("</script", "<\\/script");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>/, "")
        .replace(/<link rel="stylesheet"[^>]*>/, "")
        .replace(
          "</head>",
          () => `<meta http-equiv="Content-Security-Policy" content="${policy}"><style>${style}</style></head>`,
        )
        .replace("</body>", () => `<script type="module">${script}</script></body>`);
    },
  };
}

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: { target: "es2022", emptyOutDir: false, modulePreload: false, cssCodeSplit: false, assetsInlineLimit: 1e6 },
  // A worker that is no module starts in a file that was opened from a disk, too.
  worker: { format: "iife" },
  plugins: [oneFile()],
});
