/** A program that forgets to close its host is told so, once; one that lets go of its host ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text as read } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CACHE } from "../support/creel.ts";
import { served } from "../support/serve.ts";

const ENTRY = fileURLToPath(new URL("../../src/index.ts", import.meta.url));
const SENTENCE = "the program has nothing left to do, but a Creel host is still open";

/** A program of a gateway developer, from its sources. */
function program(code: string) {
  const args = ["-C", "source", "--disable-warning=ExperimentalWarning", "--input-type=module", "-e"];
  const text = `import { openHost } from ${JSON.stringify(ENTRY)};\nconst config = { sandbox: { walls: "none", spare: false } };\n${code}`;
  return spawn(process.execPath, [...args, text], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
  });
}

describe.each(["process", "connect"] as const)("a host that was opened by %s", (kind) => {
  const opening = async () => {
    if (kind === "process") return { code: `await openHost({ lanes: 1, config })`, close: async () => {} };
    const server = await served();
    return { code: `await openHost({ connect: ${JSON.stringify(server.socket)} })`, close: () => server.close() };
  };

  it("and forgotten says once what keeps the program running", { timeout: 60_000 }, async () => {
    const { code, close } = await opening();
    const child = program(code);
    try {
      let said: string | undefined;
      for await (const line of createInterface({ input: child.stderr }))
        if (line.includes(SENTENCE)) {
          said = line;
          break;
        }
      expect(said).toContain("host.close()");
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill();
      await once(child, "close");
      await close();
    }
  });

  it("and let go of lets the program end, without a word", { timeout: 60_000 }, async () => {
    const { code, close } = await opening();
    const child = program(`const host = ${code};\nawait host.run("before_tool_call", { toolName: "t", params: {} });\nhost.unref();`);
    const [said, [ended]] = await Promise.all([read(child.stderr), once(child, "close")]);
    expect({ ended, said: said.includes(SENTENCE) }).toEqual({ ended: 0, said: false });
    await close();
  });

  it("beside something else that runs says nothing", { timeout: 60_000 }, async () => {
    const { code, close } = await opening();
    const child = program(`const host = ${code};\nsetTimeout(() => host.close(), 4_000);`);
    const [said, [ended]] = await Promise.all([read(child.stderr), once(child, "close")]);
    expect({ ended, said: said.includes(SENTENCE) }).toEqual({ ended: 0, said: false });
    await close();
  });
});
