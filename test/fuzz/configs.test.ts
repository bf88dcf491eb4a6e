/** `creel.json`, damaged: refused with an error that names the file, or read as a value that the schema takes as it is. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { creelConfig } from "../../src/protocol/config/config.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { parseJsonc } from "../../src/text/jsonc.ts";
import { readConfig } from "../../src/discovery/config-file.ts";
import { folder } from "../support/files.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { bent, damaged } from "./mutations.ts";

const REAL = {
  $schema: "node_modules/creel/docs/reference/creel.schema.json",
  plugins: {
    enabled: true,
    load: { paths: ["./a", "../b.ts"], lazy: false },
    entries: {
      a: {
        enabled: true,
        config: { level: 3 },
        env: { A: "b" },
        hooks: { allowConversationAccess: true, timeoutMs: 200, cpuMs: 50, budgets: { before_tool_call: { timeoutMs: 10 } } },
        grants: {
          fetch: ["https://api.example.com", { origin: "https://x.example", methods: ["GET"], pathPrefix: "/v1/" }],
          kv: true,
          fs: { maxBytes: 1_000 },
          session: ["get"],
        },
        limits: { heapMb: 32 },
      },
    },
  },
  hooks: { failure: { message_sending: "closed" }, agent: { beforeTurn: [{ script: "x.js", filter: { agentId: ["a"] } }] } },
  sandbox: { walls: "auto", memoryMb: 512, spare: false },
  audit: { enabled: true, events: "none", maxBytes: 10_000_000 },
  secrets: { TOKEN: { env: "TOKEN" } },
  stateDir: "./state",
};
const TEXT = `// as people write it\n${JSON.stringify(REAL, undefined, 2).replace("{", "{ /* a comment */")}`;
const path = join(folder({}), "creel.json");

const text = fc.oneof(
  damaged([TEXT, JSON.stringify(REAL)], 4),
  bent([REAL]).map((value) => JSON.stringify(value) ?? ""),
);

it("a configuration file is refused by name, or read as what the schema takes", fuzzing("configs"), async () => {
  const cases = await fuzz("configs", text, async (written) => {
    writeFileSync(path, written);
    try {
      const config = await readConfig(path);
      expect(creelConfig.parse(config)).toEqual(config);
      expect(Object.getPrototypeOf(config)).toBe(Object.prototype);
      expect(({} as { x?: unknown }).x).toBeUndefined();
    } catch (error) {
      if (!(error instanceof CreelError)) throw error;
      demand(["ERR_CONFIG_READ", "ERR_CONFIG_INVALID"].includes(error.code), "a configuration is refused by name");
      demand(error.message.includes(path), "the error names the file");
    }
    sameAsJson(written);
  });
  expect(cases).toBeGreaterThan(0);
});

/** What is plain JSON means what it means to everyone; only a key that is there twice is refused. */
function sameAsJson(written: string): void {
  let plain: unknown;
  try {
    plain = JSON.parse(written);
  } catch {
    return;
  }
  try {
    expect(parseJsonc(written)).toEqual(plain);
  } catch (error) {
    demand(/is there twice|nests deeper/.test(String(error)), `JSON is read as JSON: ${String(error)}`);
  }
}
