/** Pins what OpenClaw's shipped types say against Creel's catalog and table of `api` members: a new release shows here first. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { API_MEMBERS } from "../../src/protocol/guest-surface/api-members.ts";
import { routeOf } from "../../src/openclaw/hook-names.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { CATALOG } from "creel";
import { openclawEntry } from "./support/openclaw-package.ts";

const entry = openclawEntry();

/** The shipped file that has this text. */
function fileWith(start: string, pattern: string): string {
  const dist = join(dirname(entry!), "dist");
  for (const file of globSync(pattern, { cwd: dist })) {
    const text = readFileSync(join(dist, file), "utf8");
    if (text.includes(start)) return text;
  }
  throw new Error(`OpenClaw's files do not say "${start}"`);
}

/** The declaration that begins so, up to the line that ends it. */
function declaration(start: string, end = "\n};", pattern = "*.d.ts"): string {
  const text = fileWith(start, pattern);
  const at = text.indexOf(start);
  return text.slice(at, text.indexOf(end, at));
}

/** The fields of an object type that is declared in this text, with those of the types that it extends or is joined with. */
function fieldsOf(type: string, text: string): string[] {
  const head = new RegExp(`^(?:interface|type) ${type}\\b[^\\n]*$`, "m").exec(text);
  if (!head) throw new Error(`OpenClaw's types do not declare ${type}`);
  const end = text.indexOf("\n}", head.index);
  const isOneLine = head[0].endsWith(";");
  const body = isOneLine ? head[0] : text.slice(head.index, end);
  const tail = isOneLine ? "" : text.slice(end, text.indexOf(";", end));
  const own = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name!);
  const joined = [...`${head[0]}${tail}`.matchAll(/\bPlugin\w+/g)].map(([name]) => name).filter((name) => name !== type);
  return [...new Set([...own, ...joined.flatMap((name) => fieldsOf(name, text))])];
}

/** Fields of the events in the catalog that only one variant of OpenClaw's type has. */
const OF_ONE_VARIANT: Readonly<Record<string, string[]>> = { subagent_progress: ["outcome"] };

describe.skipIf(entry === undefined)("OpenClaw's types", () => {
  it("pin 2: name the same typed hooks as the catalog, but for those that OpenClaw removed or never had", () => {
    const text = declaration("type PluginHookName = ");
    const names = [...text.slice(0, text.indexOf(";")).matchAll(/"(\w+)"/g)].map(([, name]) => name!);
    const ours = Object.keys(CATALOG).filter((name) => routeOf(name) === "typed");
    expect(names.toSorted()).toEqual(ours.toSorted());
  });

  it("pin 1: give the events of all hooks the fields that the catalog gives them", () => {
    const text = fileWith("type PluginHookHandlerMap = {", "*.d.ts");
    const hooks = [...declaration("type PluginHookHandlerMap = {").matchAll(/^ {2}(\w+): \(event: (\w+)/gm)];
    expect(hooks.length).toBeGreaterThan(40);
    const theirs = hooks.map(([, hook, type]) => [hook, [...fieldsOf(type!, text), ...(OF_ONE_VARIANT[hook!] ?? [])].toSorted()]);
    const ours = hooks.map(([, hook]) => {
      const { event } = (CATALOG as Readonly<Record<string, AnyHook>>)[hook!]!;
      return [hook, Object.keys((event as unknown as { shape: object }).shape).toSorted()];
    });
    expect(theirs).toEqual(ours);
  });

  it("pin 1: give the contexts of all hooks no field that the catalog does not have", () => {
    const text = fileWith("type PluginHookHandlerMap = {", "*.d.ts");
    const hooks = [...declaration("type PluginHookHandlerMap = {").matchAll(/^ {2}(\w+): \(event: \w+, ctx: (\w+)\)/gm)];
    expect(hooks.length).toBeGreaterThan(40);
    let fields = 0;
    const unknown = hooks.flatMap(([, hook, type]) => {
      const { context } = (CATALOG as Readonly<Record<string, AnyHook>>)[hook!]!;
      const ours = new Set(Object.keys((context as unknown as { shape: object }).shape));
      return fieldsOf(type!, text).flatMap((field) => {
        fields += 1;
        return ours.has(field) ? [] : [`${hook}: ${field}`];
      });
    });
    expect(fields).toBeGreaterThan(300);
    expect(unknown).toEqual([]);
  });

  it("pin 2: name no internal event that the catalog does not have", () => {
    const text = declaration("const KNOWN_INTERNAL_HOOK_EVENT_KEYS = [", "]", "internal-hook-types-*.mjs");
    const names = [...text.matchAll(/"([\w:-]+)"/g)].map(([, name]) => name!);
    const ours = Object.keys(CATALOG).filter((name) => routeOf(name) === "internal");
    expect(names.toSorted()).toEqual(ours.toSorted());
  });

  it("pin 2: have no member of the plugin API that Creel's table does not know", () => {
    const text = declaration("type OpenClawPluginApi = {");
    const members = [...text.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, name]) => name!);
    expect(members.length).toBeGreaterThan(70);
    expect(members.filter((name) => !(name in API_MEMBERS))).toEqual(["runtimeSource"]);
  });
});
