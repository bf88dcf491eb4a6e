/** How a form is sent: what comes out of the cell is what Node reads back, and no name or value can add to it. */
import { describe, expect, it } from "vitest";
import { comparison } from "../compare.ts";

const NAMES = ["plain", 'quo"te', "new\r\nline", "é😀", 'x"; filename="evil', "a\nContent-Type: text/html\r\n\r\nb", "%22", "back\\slash"];
const VALUES = ["", "text", "two\nlines\r\nand\rmore", "--boundary--", "😀"];

/** In a text a line ends in CR LF. */
const lines = (text: string) => text.replaceAll(/\r\n|\r|\n/g, "\r\n");

describe("multipart/form-data", () => {
  const { inCell } = comparison();

  it("what a cell sends, Node reads as the same names, file names, types and contents", async () => {
    const data = NAMES.flatMap((name) => VALUES.map((value) => [name, value]));
    const line = `const f = new FormData(); for (const [name, value] of data) { f.append(name, value); f.append(name, new File([value], name, { type: value === "" ? "" : "text/x-own" })); }
      const sent = new Response(f); return [sent.headers.get("content-type"), [...new Uint8Array(await sent.arrayBuffer())]];`;
    const [[type, bytes]] = (await inCell([line], data)) as [[string, number[]]];
    const read = await new Response(new Uint8Array(bytes), { headers: { "content-type": JSON.parse(type) as string } }).formData();
    const got = await Promise.all(
      [...read].map(async ([name, value]) =>
        typeof value === "string" ? [name, value] : [name, value.name, value.type, await value.text()],
      ),
    );
    // Whoever reads %22 in a name takes it for a quotation mark: the escape has no escape.
    expect(got).toEqual(
      data.flatMap(([name = "", value = ""]) => [
        [lines(name).replace("%22", '"'), lines(value)],
        [lines(name).replace("%22", '"'), name.replace("%22", '"'), value === "" ? "application/octet-stream" : "text/x-own", value],
      ]),
    );
  });

  it("a boundary is new each time", async () => {
    const [types] = (await inCell([`Array.from({ length: 50 }, () => new Response(new FormData()).headers.get("content-type"))`])) as [
      string[],
    ];
    expect(new Set(types).size).toBe(50);
  });
});
