/** Manifests and package.json files of a plugin, damaged: refused with an error of ours, or read as a plugin whose id and entry are in its folder. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { findPlugin } from "../../src/discovery/manifest.ts";
import { parseStrictJson } from "../../src/install/manifest/strict-json.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { pluginId } from "../../src/protocol/rules/plugin-id.ts";
import { folder } from "../support/files.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { bent, damaged } from "./mutations.ts";

const MANIFEST = {
  id: "guard",
  name: "Guard",
  version: "1.2.3",
  description: "Looks.",
  main: "index.js",
  contracts: { tools: ["a"] },
  permissions: {
    fetch: [{ origin: "https://api.example.com", methods: ["GET"], reason: "to ask" }],
    kv: { maxBytes: 1_000, reason: "to keep" },
  },
};
const PACKAGE = {
  name: "@scope/guard",
  version: "1.2.3",
  main: "index.js",
  openclaw: { extensions: ["./index.js"] },
  dependencies: { zod: "^4.0.0" },
};

const root = join(folder({}), "guard");
const text = (real: object): fc.Arbitrary<string> =>
  fc.oneof(
    damaged([JSON.stringify(real), JSON.stringify(real, undefined, 2)], 4),
    bent([real]).map((value) => JSON.stringify(value) ?? ""),
  );
const files = fc.record({
  manifest: fc.option(fc.tuple(fc.constantFrom("creel.plugin.json", "openclaw.plugin.json"), text(MANIFEST))),
  package: fc.option(text(PACKAGE)),
});

it("a plugin's manifest is refused by name, or gives an id that is one and an entry that is there", fuzzing("manifests"), async () => {
  const cases = await fuzz("manifests", files, async (made) => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "index.js"), "export default () => {};");
    if (made.manifest) writeFileSync(join(root, made.manifest[0]), made.manifest[1]);
    if (made.package !== null) writeFileSync(join(root, "package.json"), made.package);
    try {
      const found = await findPlugin(root);
      expect(pluginId.safeParse(found.manifest.id).success).toBe(true);
      expect(found.entry.startsWith(`${root}/`)).toBe(true);
    } catch (error) {
      if (!(error instanceof CreelError)) throw error;
      demand(error.code.startsWith("ERR_PLUGIN_"), "a manifest is refused by name");
    }
    if (made.package !== null) readsAsJsonDoes(made.package);
  });
  expect(cases).toBeGreaterThan(0);
});

/** The strict reader takes a part of what JSON.parse takes, and sees the same in it. */
function readsAsJsonDoes(written: string): void {
  try {
    expect(parseStrictJson(Buffer.from(written), { path: "package.json" })).toEqual(JSON.parse(written));
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    demand(error.code === "ERR_INSTALL_JSON", "JSON is refused by name");
    demand(/^[^\p{Cc}]+$/u.test(error.message), "the message is one printable line");
  }
}
