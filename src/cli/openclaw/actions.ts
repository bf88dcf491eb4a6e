/** The steps of `creel openclaw`, one function per action. */
import { text } from "node:stream/consumers";
import type { InstallOptions } from "../../install/install.ts";
import { releaseMethodOf } from "../../openclaw/release.ts";
import { CreelError } from "../../protocol/errors.ts";
import { UsageError } from "../options.ts";
import { consentOf, decide } from "../plugins/consent.ts";
import type { ConsentValues } from "../plugins/consent.ts";
import { progress } from "../plugins/progress.ts";
import { createConfig, findProject } from "../plugins/project.ts";
import type { Project } from "../plugins/project.ts";
import { reviewPage } from "../plugins/review-page.ts";
import type { Terminal } from "../ui/terminal.ts";
import { oneLine } from "../../text/one-line.ts";
import { commandLine } from "../self.ts";
import { EXIT } from "../verb.ts";
import { candidates } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import { driftOf } from "./drift.ts";
import { GatewayCommand } from "./gateway-command.ts";
import { back, load, prepare } from "./move.ts";
import type { Moved } from "./move.ts";
import { nativeOnlyLines } from "./native-only.ts";
import { policyAnswer } from "./policy.ts";

export interface ActionInput {
  readonly values: ConsentValues & {
    readonly all?: boolean;
    readonly "dry-run"?: boolean;
    readonly openclaw?: string;
  };
  readonly isJson: boolean;
  readonly out: Terminal;
  readonly err: Terminal;
}

export type Action = "plan" | "move" | "back" | "release" | "status" | "policy" | "doctor";

interface Scene extends ActionInput {
  readonly project: Project;
  readonly gateway: GatewayCommand;
  readonly plugins: readonly Candidate[];
}

export async function runAction(action: Action, names: readonly string[], input: ActionInput): Promise<number> {
  if (action === "policy") {
    input.out.line(JSON.stringify(await policyAnswer(JSON.parse(await text(process.stdin)))));
    return EXIT.ok;
  }
  const project = await findProject(input.values, true);
  const gateway = new GatewayCommand(input.values.openclaw);
  const plugins = await candidates(gateway, project.state.dir);
  const scene = { ...input, project, gateway, plugins };
  if (action === "plan") return plan(scene, names);
  if (action === "move") return moveAll(scene, names);
  if (action === "back") return backAll(scene, names);
  if (action === "release") return releaseAll(scene, names);
  return status(scene, action === "doctor");
}

async function plan(scene: Scene, names: readonly string[]): Promise<number> {
  const rows: Record<string, unknown>[] = [];
  for (const plugin of named(scene, names)) {
    const { id, version, state } = plugin;
    const tried = state === "native" ? await attempt(() => prepare(plugin, { ...scene, decide: refuse, isDryRun: true })) : undefined;
    const error = tried instanceof CreelError ? tried : undefined;
    const planned = tried instanceof CreelError ? undefined : tried;
    const permissions = planned?.install.review.permissions.map(({ key }) => key) ?? [];
    const lost = planned ? [...planned.lost, ...nativeOnlyLines(plugin.dir!), ...planned.install.review.remarks] : [];
    const digest = planned?.install.digest ?? null;
    rows.push({
      id,
      version: version ?? null,
      state,
      canMove: planned !== undefined,
      why: error?.message ?? null,
      digest,
      permissions,
      lost,
    });
    if (scene.isJson) continue;
    const verdict = state === "sandboxed" ? "is sandboxed" : planned ? "can be moved" : `stays native: ${error?.message}`;
    scene.out.line(`${scene.out.paint("bold", id)} ${version ?? ""} ${verdict}`);
    if (permissions.length > 0) scene.out.line(`  may be granted: ${permissions.join(", ")}`);
    for (const line of lost) scene.out.line(`  lost: ${line}`);
  }
  if (scene.isJson) scene.out.line(JSON.stringify({ plugins: rows }, undefined, 2));
  else if (rows.length === 0) scene.out.line("there are no plugins beside OpenClaw's own");
  return EXIT.ok;
}

async function moveAll(scene: Scene, names: readonly string[]): Promise<number> {
  const { values, isJson, out, err, project } = scene;
  if (names.length === 0 && values.all !== true) throw new UsageError("move takes ids, or --all", 'such as "creel openclaw move guard"');
  const isDryRun = values["dry-run"] === true;
  const chosen =
    values.all === true
      ? scene.plugins.filter(({ state }) => state === "native")
      : names.map((name) => found(scene, name) ?? sourceOf(name));
  const results: (Moved | { readonly id: string; readonly error: CreelError })[] = [];
  const consent = consentOf(values, {
    verb: "install",
    isJson,
    isOneOfMany: chosen.length > 1,
    outcome: () => leftAt(scene, chosen, results),
  });
  const ask: InstallOptions["decide"] = async (review, digest) => {
    if (!isJson) reviewPage(review, digest, out);
    const decision = await decide(review, digest, (await project.state.read()).get(review.id), consent, out);
    if (decision.isAccepted && (await createConfig(values))) (isJson ? err : out).line("made a creel.json, with its state in .creel");
    return decision;
  };
  for (const plugin of chosen) {
    const moved = await attempt(() => prepare(plugin, { ...scene, decide: ask, isDryRun, progress: progress(isJson ? err : out) }));
    results.push(moved instanceof CreelError ? { id: typeof plugin === "string" ? plugin : plugin.id, error: moved } : moved);
  }
  await load(
    results.filter((one) => "install" in one),
    project.state.dir,
    scene.gateway,
  );
  for (const one of results) {
    if ("error" in one) err.line(`${err.paint("red", "✗")} ${one.id} stays native: ${one.error.message}. To fix it: ${one.error.fix}`);
    else if (!isJson) sayMoved(scene, one);
  }
  if (isJson) out.line(JSON.stringify({ plugins: results.map(rowOf) }, undefined, 2));
  const hasFailed = results.some((one) => ("error" in one ? values.all !== true : one.outcome === "refused"));
  return hasFailed ? EXIT.failed : EXIT.ok;
}

/** For a person who leaves: `load` comes after the last question, so OpenClaw loads what it did before. */
function leftAt({ values }: Scene, chosen: readonly (Candidate | string)[], results: readonly object[]): string {
  const words = results.flatMap((one, at) => {
    const plugin = chosen[at]!;
    return "outcome" in one && one.outcome === "moved" ? [typeof plugin === "string" ? plugin : plugin.id] : [];
  });
  if (words.length === 0) return "Nothing was moved.";
  const { config, "state-dir": stateDir, openclaw } = values;
  const command = commandLine(["openclaw", "move", ...words], { config, "state-dir": stateDir, openclaw });
  return `Nothing was moved. Installed in Creel, as you accepted, but not yet loaded by OpenClaw: ${words.join(", ")}. To finish, run: ${command}`;
}

function rowOf(one: Moved | { readonly id: string; readonly error: CreelError }): object {
  if ("error" in one) return { id: one.id, outcome: "failed", error: one.error.message };
  const { id, outcome, install, lost } = one;
  return { id, outcome, digest: install.digest, lost };
}

function sayMoved({ out, err }: Scene, { id, outcome, lost, install: { digest } }: Moved): void {
  if (outcome === "planned") out.line(`${id} would be moved; its review has the digest ${digest}`);
  else if (outcome === "moved") out.line(`${out.paint("green", "✓")} ${id} runs in the sandbox; "creel openclaw back ${id}" undoes it`);
  else err.line(`${err.paint("red", "✗")} ${id} stays native: its review was not accepted. To accept it, add --accept ${digest}`);
  for (const line of lost) out.line(`  lost: ${line}`);
}

async function backAll(scene: Scene, names: readonly string[]): Promise<number> {
  const { values, isJson, out, plugins, gateway } = scene;
  if (names.length === 0 && values.all !== true) throw new UsageError("back takes ids, or --all", 'such as "creel openclaw back guard"');
  const chosen = values.all === true ? plugins.filter(({ state }) => state === "sandboxed") : named(scene, names);
  const outcome = values["dry-run"] === true ? "planned" : "back";
  if (outcome === "back") await back(chosen, gateway);
  const rows = chosen.map(({ id }) => ({ id, outcome }));
  if (isJson) out.line(JSON.stringify({ plugins: rows }, undefined, 2));
  else for (const plugin of chosen) sayBack(plugin, outcome, out);
  return EXIT.ok;
}

function sayBack(plugin: Candidate, outcome: "planned" | "back", out: Terminal): void {
  const becomes = plugin.dir === undefined ? "is not loaded any more" : "is native again";
  if (outcome === "planned") out.line(`${plugin.id} would be moved back`);
  else out.line(`${out.paint("green", "✓")} ${plugin.id} ${becomes}; a gateway that is running follows within seconds`);
}

/** Of another process's answer. */
function said(value: unknown): string | undefined {
  return typeof value === "string" ? oneLine(value) : undefined;
}

/** In the gateway that runs: the breaker of its host let them out of quarantine. */
async function releaseAll(scene: Scene, names: readonly string[]): Promise<number> {
  const { isJson, out, err, gateway } = scene;
  if (names.length === 0) throw new UsageError("release takes ids", 'such as "creel openclaw release guard"');
  const rows: { id: string; status: string | undefined; circuit: string | undefined; error: string | undefined }[] = [];
  for (const { id, state } of named(scene, names)) {
    if (state === "native") throw new CreelError("ERR_OPENCLAW_PLUGIN", { plugin: id, detail: "it is not sandboxed" });
    const { status: now, circuit, error } = Object(await gateway.call(releaseMethodOf(id))) as Record<string, unknown>;
    rows.push({ id, status: said(now), circuit: said(circuit), error: said(error) });
  }
  if (isJson) out.line(JSON.stringify({ plugins: rows }, undefined, 2));
  else
    for (const { id, error } of rows)
      if (error === undefined) out.line(`${out.paint("green", "✓")} ${id} is out of quarantine`);
      else err.line(`${err.paint("red", "✗")} ${id} does not load: ${error}`);
  return rows.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.ok;
}

async function status({ plugins, project, isJson, out }: Scene, isDoctor: boolean): Promise<number> {
  const rows = await Promise.all(plugins.map(async (plugin) => ({ plugin, drift: await driftOf(plugin, project) })));
  const shown = rows.map(({ plugin: { id, version, state, isEnabled }, drift }) => ({
    id,
    version: version ?? null,
    state,
    isEnabled,
    drift,
  }));
  if (isJson) out.line(JSON.stringify({ plugins: shown }, undefined, 2));
  else
    for (const { id, version, state, drift } of shown) {
      out.line(`${out.paint("bold", id)} ${version ?? ""} ${state}`);
      for (const line of drift) out.line(`  ${out.paint("yellow", "!")} ${line}`);
    }
  const hasDrifted = rows.some(({ drift }) => drift.length > 0);
  if (isDoctor && !isJson) out.line(hasDrifted ? "FAIL" : "ok");
  return hasDrifted ? EXIT.failed : EXIT.ok;
}

/** The plugins of these names; of all, without any. */
function named(scene: Scene, names: readonly string[]): Candidate[] {
  if (names.length === 0) return [...scene.plugins];
  return names.map((name) => {
    const plugin = found(scene, name);
    if (!plugin) throw new CreelError("ERR_OPENCLAW_PLUGIN", { plugin: name, detail: "OpenClaw has no plugin of that id beside its own" });
    return plugin;
  });
}

function found({ plugins }: Scene, name: string): Candidate | undefined {
  return plugins.find(({ id }) => id === name);
}

/** A bare word is an id: a mistyped one must not fetch a package of that name. */
function sourceOf(name: string): string {
  if (/[/:]/.test(name)) return name;
  throw new CreelError("ERR_OPENCLAW_PLUGIN", {
    plugin: name,
    detail: `OpenClaw has no plugin of that id beside its own. To add a new one, give its source: npm:${name} or ./${name}`,
  });
}

async function refuse(): Promise<{ isAccepted: false }> {
  return { isAccepted: false };
}

async function attempt<T>(work: () => Promise<T>): Promise<T | CreelError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CreelError) return error;
    throw error;
  }
}
