/** Puts the report where it is read: the page, its drawings and its data in docs/, and the costs in README.md. */
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { page } from "./page.ts";
import { README, withCosts } from "./readme.ts";
import { ladder, plotsOf } from "./plots/plots.ts";
import type { Plot } from "./plots/plots.ts";
import { written } from "./data.ts";
import type { ReportData } from "./data.ts";

export const PAGE = new URL("../../docs/benchmarks.md", import.meta.url);
const FOLDER = new URL("../../docs/benchmarks/", import.meta.url);
export const DATA = new URL("data.json", FOLDER);

/** All files of the report but the page, by name. */
export function attachments(data: ReportData): Map<string, string> {
  const top = ladder(data);
  const plots: Plot[] = [...(top ? [top] : []), ...data.cases.flatMap(plotsOf)];
  return new Map([["data.json", written(data)], ...plots.map(({ file, svg }): [string, string] => [file, svg])]);
}

export async function writeReport(data: ReportData): Promise<void> {
  const files = attachments(data);
  await mkdir(FOLDER, { recursive: true });
  for (const name of await readdir(FOLDER)) if (!files.has(name)) await rm(new URL(name, FOLDER));
  for (const [name, text] of files) await writeFile(new URL(name, FOLDER), text);
  await writeFile(PAGE, page(data));
  await writeFile(README, withCosts(await readFile(README, "utf8"), data));
}
