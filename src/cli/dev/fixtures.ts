/** Events that an author keeps beside the plugin, in `fixtures/*.json`: `{ hook, event, ctx }`, ready to be run. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { parseJson } from "../../text/parse-json.ts";
import { findHook, readInput } from "../call/input.ts";
import type { CallInput } from "../call/input.ts";

const FIXTURES = "fixtures";

const fixture = z.object({
  hook: z.string(),
  event: z.record(z.string(), z.unknown()),
  ctx: z.record(z.string(), z.unknown()).optional(),
});

export interface Fixture {
  /** The file's name. */
  readonly name: string;
  readonly input: CallInput;
}

/** By name. Those that cannot be read are in `problems`. */
export async function readFixtures(root: string): Promise<{ readonly fixtures: Fixture[]; readonly problems: string[] }> {
  const folder = join(root, FIXTURES);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json")).toSorted();
  const fixtures: Fixture[] = [];
  const problems: string[] = [];
  for (const name of names) {
    try {
      const parsed = parseJson(fixture, await readFile(join(folder, name), "utf8"));
      if (!parsed.success) throw new Error('it is not of the form { "hook": "…", "event": { … } }');
      fixtures.push({ name, input: await inputOf(parsed.data) });
    } catch (error) {
      problems.push(`${FIXTURES}/${name}: ${(error as Error).message}`);
    }
  }
  return { fixtures, problems };
}

/** Gives the file's name. Never over one that is there. */
export async function saveFixture(root: string, { hook, event, ctx }: CallInput): Promise<string> {
  const folder = join(root, FIXTURES);
  await mkdir(folder, { recursive: true });
  const taken = new Set(await readdir(folder));
  let number = 1;
  const nameOf = (at: number): string => `${hook.replaceAll(":", "-")}-${at}.json`;
  while (taken.has(nameOf(number))) number += 1;
  const name = nameOf(number);
  await writeFile(join(folder, name), `${JSON.stringify({ hook, event, ...(ctx && { ctx }) }, undefined, 2)}\n`, { flag: "wx" });
  return `${FIXTURES}/${name}`;
}

async function inputOf({ hook, event, ctx }: z.infer<typeof fixture>): Promise<CallInput> {
  return readInput(findHook(hook, undefined), JSON.stringify(event), ctx && JSON.stringify(ctx));
}
