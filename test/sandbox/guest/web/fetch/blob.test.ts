/** Blob, File and FormData behave as in Node. */
import { describe } from "vitest";
import { comparison } from "../compare.ts";
import { shapeOf } from "../shape.ts";

const TEXTS = [
  `new Blob()`,
  `new Blob([])`,
  `new Blob(["a", "é😀", "\\ud800"])`,
  `new Blob([new Uint8Array([97, 98]), new Uint8Array([99, 100, 101]).subarray(1), new Uint8Array([102]).buffer, new DataView(new Uint8Array([103]).buffer)])`,
  `new Blob([new Blob(["in"]), 5, null, undefined, { toString: () => "own" }])`,
  `new Blob(["a\\r\\nb\\rc\\nd"], { endings: "native" })`,
  `new Blob(new Set(["x", "y"]))`,
  `new Blob(["abcdef"]).slice(1, 4)`,
  `new Blob(["abcdef"]).slice(-3)`,
  `new Blob(["abcdef"]).slice(2, -2, "T/X")`,
  `new Blob(["abcdef"]).slice(4, 2)`,
  `new Blob(["abcdef"]).slice(1.5)`,
  `new Blob(["abcdef"]).slice(NaN, Infinity)`,
  `new Blob(["\\ufeffx"])`,
];

describe("blobs", () => {
  const { same } = comparison();

  same("a blob has the bytes of its parts", [
    shapeOf("Blob.prototype"),
    shapeOf("File.prototype"),
    `[Blob.length, File.length]`,
    ...TEXTS.flatMap((blob) => [
      `const b = ${blob}; return [b.size, b.type, await b.text()];`,
      `return [...new Uint8Array(await ${blob}.arrayBuffer())];`,
      `const out = []; for await (const piece of ${blob}.stream()) out.push(...piece); return out;`,
    ]),
    ...[`"Text/Plain"`, `"é"`, `"a\\u0000"`, `null`, `5`, `undefined`].map((type) => `return new Blob([], { type: ${type} }).type;`),
    `new Blob("x")`,
    `new Blob(5)`,
    `new Blob(null)`,
    `new Blob([], 5)`,
    `new Blob([], { endings: "x" })`,
    `Blob([])`,
    `Object.prototype.toString.call(new Blob())`,
    `(await new Blob(["ab"]).bytes()) instanceof Uint8Array`,
    `const b = new Uint8Array([1]); const blob = new Blob([b]); b[0] = 2; return [...await blob.bytes()];`,
    `const r = new Blob(["abc"]).stream().getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(2)); return [...value];`,
    `const out = []; for await (const piece of new Blob(["é"]).textStream()) out.push(piece); return out.join("");`,
    `Blob.prototype.size`,
  ]);

  same("a file is a blob with a name and a date", [
    `const f = new File(["x"], "n.txt", { type: "a/b", lastModified: 5 }); return [f.name, f.lastModified, f.type, f.size, f instanceof Blob, Object.prototype.toString.call(f)];`,
    `new File([], 5).name`,
    `new File([], "a/b").name`,
    `new File([], "\\ud800").name`,
    `Math.abs(new File([], "n").lastModified - Date.now()) < 5000`,
    `new File([], "n", { lastModified: "7" }).lastModified`,
    `new File([], "n", { lastModified: NaN }).lastModified`,
    `new File([], "n", { lastModified: new Date(9) }).lastModified`,
    `new File()`,
    `new File([])`,
    `new File("x", "n")`,
    `new File(["abc"], "n").slice(1) instanceof File`,
  ]);

  const form = `const f = new FormData(); f.append("a", "1"); f.append("b", new Blob(["x"], { type: "t/y" })); f.append("a", 2);`;
  const plain = `[...f].map(([k, v]) => [k, typeof v === "string" ? v : [v.constructor.name, v.name, v.type, v.size]])`;
  same("a form is a list of names with texts and files", [
    shapeOf("FormData.prototype"),
    `FormData.prototype.entries === FormData.prototype[Symbol.iterator]`,
    `${form} return ${plain};`,
    `${form} f.append("c", new Blob(["y"]), "own.txt"); f.append("d", new File(["z"], "z.txt")); f.append("e", new File(["z"], "z.txt"), "other.txt"); return ${plain};`,
    `${form} f.set("a", "only"); f.set("new", "one"); return ${plain};`,
    `${form} f.delete("a"); return ${plain};`,
    `${form} return [f.get("a"), f.get("zz"), f.getAll("a"), f.getAll("zz"), f.has("b"), f.has("zz"), f.get("b") instanceof File, f.get("b") === f.get("b")];`,
    `${form} return [[...f.keys()], [...f.values()].length, [...f.entries()].length];`,
    `${form} const seen = []; f.forEach(function (v, k, self) { seen.push([k, self === f, this.x]); }, { x: 1 }); return seen;`,
    `${form} f.append("u", "\\ud800"); return f.get("u");`,
    `${form} f.append("x");`,
    `${form} f.append();`,
    `${form} f.append("x", "y", "z");`,
    `${form} f.get();`,
    `${form} f.forEach(5);`,
    `new FormData({})`,
    `Object.prototype.toString.call(new FormData())`,
  ]);
});
