/** Build time only: makes the console's page, one script and one style sheet with the hash of their text in their names, and their licences. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { PERMISSION_TABLE } from "../../src/protocol/config/permission-table.ts";

const ROOT = new URL("../../", import.meta.url);
const PAGE = new URL("src/console/page/", ROOT);
const PACKAGES = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];

const PERMISSION_WORDS = Object.fromEntries(Object.entries(PERMISSION_TABLE).map(([kind, { lets, risk }]) => [kind, { lets, risk }]));

/** By file name. */
export async function buildConsole(): Promise<Readonly<Record<string, string>>> {
  await using bundle = await rolldown({
    input: new URL("main.tsx", PAGE).pathname,
    platform: "browser",
    logLevel: "warn",
    plugins: [
      {
        // Of the permissions the page shows what they let and how risky they are; the rest of the table is for the reference.
        name: "permission-words",
        load: {
          filter: { id: /\/permission-table\.ts$/ },
          handler: () => `export const PERMISSION_TABLE = ${JSON.stringify(PERMISSION_WORDS)};`,
        },
      },
      {
        // SECURITY: where a package could make HTML of text, it makes text of it. test/console/security.test.ts
        name: "text-only",
        transform: { filter: { code: /\.innerHTML\b/ }, handler: (code) => ({ code: code.replaceAll(".innerHTML", ".textContent") }) },
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
  // Marks for bundlers, several KB of them: nothing bundles this again.
  const script = output[0].code.replaceAll("/* @__PURE__ */", "");
  const style = `${text("node_modules/uplot/dist/uPlot.min.css")}\n${compact(readFileSync(new URL("style.css", PAGE), "utf8"))}`;
  const names = { script: `app-${hash(script)}.js`, style: `app-${hash(style)}.css` };
  return {
    "index.html": html(names),
    [names.script]: script,
    [names.style]: style,
    "LICENSES.txt": PACKAGES.map((name) => `${name}\n\n${text(`node_modules/${name}/LICENSE`)}`).join("\n\n"),
  };
}

function html({ script, style }: { readonly script: string; readonly style: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Creel</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${style}">
<script type="module" src="/${script}"></script>
</head>
<body><noscript>The console needs JavaScript. "creel top", "creel tail" and "creel explain" do not.</noscript></body>
</html>
`;
}

/** Without what a browser does not read: comments, indentation, and line ends where a rule or a declaration ends. */
function compact(css: string): string {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/^\s+/gm, "")
    .replaceAll(/^([a-z-]+): /gm, "$1:")
    .replaceAll(/([{};,])\n/g, "$1")
    .replaceAll(" {", "{")
    .replaceAll(";}", "}");
}

function text(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

function hash(content: string): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 12);
}
