/** `creel dev`: a change is a new load and a new run; an error is shown with its place and the watch goes on; Ctrl-C ends it cleanly. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Watch } from "../../../../src/cli/dev/watch.ts";
import { folder } from "../../../support/files.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const source = (answer: string) => `import { word } from "./word.ts";
export default (api) => api.on("message_sending", (event) => ({ content: event.content + ${answer} + word }));
`;

describe("creel dev", () => {
  it("loads and runs again with every change, tells an error with its place, and ends with Ctrl-C", { timeout: 60_000 }, async () => {
    const where = folder({ "index.ts": source('" one "'), "word.ts": `export const word = "w";\n` });
    const args = ["dev", where, "--hook", "message_sending", "--event", '{"to":"me","content":"hello"}', "--isolation", "thread", "--json"];
    const child = spawn(process.execPath, ["-C", "source", "src/cli/main.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const said = readAll(child.stderr);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    /** The first of what is printed that is about this: on a busy machine one change may be seen as two. */
    const told = async (what: string): Promise<unknown> => {
      for (;;) {
        const line = (await lines.next()).value as string;
        if (line.includes(what)) return JSON.parse(line);
      }
    };
    try {
      expect(await told("hello one w")).toMatchObject({ decision: "pass", result: { content: "hello one w" } });
      writeFileSync(join(where, "word.ts"), `export const word = "W";\n`);
      expect(await told("hello one W")).toMatchObject({ result: { content: "hello one W" } });
      writeFileSync(join(where, "index.ts"), "export default () => {\n  throw new Error('half done');\n};\n");
      expect(await told("half done")).toMatchObject({ loaded: false, error: { at: "index.ts:2:9" } });
      writeFileSync(join(where, "index.ts"), source('" two "'));
      expect(await told("hello two W")).toMatchObject({ result: { content: "hello two W" } });
    } finally {
      child.kill("SIGINT");
    }
    expect(await ended).toBe(0);
    expect(await said).toContain("watching ");
  });

  it.each([
    [[], "dev takes one plugin"],
    [["x", "--hook", "message_sendin"], 'did you mean "message_sending"?'],
    [["x", "--event", "{}"], "an event needs a hook"],
  ])("answers %j with exit code 2 and what to do", async (args, message) => {
    const { code, err } = await creelHere("dev", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(err).toContain("Fix:");
  });
});

describe("the watch", () => {
  it("sees files of folders that are new, leaves packages out, and ends for whoever waits", async () => {
    const where = folder({ "a.ts": "1", "node_modules/x/index.js": "1" });
    using watch = await Watch.on(where);
    mkdirSync(join(where, "below"));
    writeFileSync(join(where, "a.ts"), "2");
    expect(await watch.next()).toBe(true);
    expect(watch.folders).toEqual([where, join(where, "below")]);
    const changed = watch.next();
    writeFileSync(join(where, "below/b.ts"), "1");
    expect(await changed).toBe(true);
    const waiting = watch.next();
    watch[Symbol.dispose]();
    expect(await waiting).toBe(false);
    expect(await watch.next()).toBe(false);
  });
});
