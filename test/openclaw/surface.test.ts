/** Pins what OpenClaw's shipped types say against Creel's catalog and table of `api` members: a new release shows here first. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { API_MEMBERS } from "../../src/protocol/guest-surface/api-members.ts";
import { routeOf } from "../../src/openclaw/hook-names.ts";
import { CATALOG } from "creel";
import { openclawEntry } from "./support/openclaw-package.ts";

const entry = openclawEntry();

/** The declaration that begins so, up to the line that ends it. */
function declaration(start: string): string {
  const dist = join(dirname(entry!), "dist");
  for (const file of globSync("*.d.ts", { cwd: dist })) {
    const text = readFileSync(join(dist, file), "utf8");
    const at = text.indexOf(start);
    if (at >= 0) return text.slice(at, text.indexOf("\n};", at));
  }
  throw new Error(`OpenClaw's types do not say "${start}"`);
}

describe.skipIf(entry === undefined)("OpenClaw's types", () => {
  it("name the same typed hooks as the catalog, but for those that OpenClaw removed or never had", () => {
    const text = declaration("type PluginHookName = ");
    const names = [...text.slice(0, text.indexOf(";")).matchAll(/"(\w+)"/g)].map(([, name]) => name!);
    const ours = Object.keys(CATALOG).filter((name) => routeOf(name) === "typed");
    expect(names.toSorted()).toEqual(ours.toSorted());
  });

  it("have no member of the plugin API that Creel's table does not know", () => {
    const text = declaration("type OpenClawPluginApi = {");
    const members = [...text.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, name]) => name!);
    expect(members.length).toBeGreaterThan(70);
    expect(members.filter((name) => !(name in API_MEMBERS))).toEqual(["runtimeSource"]);
  });
});
