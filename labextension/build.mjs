// Bundles src/ into the prebuilt extension that the wheel contains. The output depends on the sources and on the locked
// version of esbuild only, so a build in another place gives the same bytes.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const extension = process.argv[2] ?? join(here, "../paimon_nb/notebook/labextension");

const made = await build({
  absWorkingDir: here,
  entryPoints: ["src/index.ts"],
  bundle: true,
  write: false,
  metafile: true,
  format: "cjs",
  target: "es2020",
  charset: "utf8",
  loader: { ".css": "text" },
  external: ["@jupyterlab/*", "@lumino/*", "@codemirror/*", "@lezer/*"],
});
// JupyterLab shares these packages with its extensions; none of them is in the bundle.
const shared = [...new Set(Object.values(made.metafile.outputs).flatMap((o) => o.imports.map((i) => i.path)))].sort();

// The digest of the sources: a test compares it without npm.
const digest = createHash("sha256");
for (const name of ["build.mjs", "package-lock.json", ...readdirSync(join(here, "src"), { recursive: true }).filter((n) => /\.(ts|css|json)$/.test(n)).map((n) => `src/${n}`).sort()])
  digest.update(`${name}\0`).update(readFileSync(join(here, name))).update("\0");

const bundle = `// Generated from labextension/ by \`make labextension\`. Do not edit.
// sources: ${digest.digest("hex")}
(() => {
const SHARED = ${JSON.stringify(shared)};
let scope;
const load = async (name) => (scope[name] ? (await Object.values(scope[name])[0].get())() : {});
(window._JUPYTERLAB = window._JUPYTERLAB || {})["paimon-nb"] = {
  init: (given) => { scope = given; },
  get: async (wanted) => {
    if (wanted !== "./extension") throw new Error(wanted);
    const packages = {};
    await Promise.all(SHARED.map(async (name) => { packages[name] = await load(name); }));
    const module = { exports: {} };
    bundle(module, module.exports, (name) => packages[name]);
    return () => module.exports;
  },
};
function bundle(module, exports, require) {
${made.outputFiles[0].text}}
})();
`;

// Browsers keep the file for a year, so another content has another name.
const folder = join(extension, "static"), name = `remoteEntry.${createHash("sha256").update(bundle).digest("hex").slice(0, 20)}.js`;
for (const old of readdirSync(folder)) rmSync(join(folder, old));
writeFileSync(join(folder, name), bundle);
const described = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
described.jupyterlab._build.load = `static/${name}`;
writeFileSync(join(extension, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
