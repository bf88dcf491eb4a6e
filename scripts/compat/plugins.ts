/**
 * For `npm run compat`: one plugin, as an operator installs it without a terminal, with every permission that it
 * requests. Then every hook gets events, and what it declares and answers is compared with expected.json, if that has it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { install } from "../../src/install/install.ts";
import { configSchemaOf } from "../../src/install/manifest/config-schema.ts";
import { sampleConfigs } from "../../src/install/review/sample-config.ts";
import type { Host } from "../../src/host/host-api.ts";
import type { Outcome } from "../../src/protocol/outcome.ts";
import { openHost } from "../../src/sdk/open-host.ts";
import { bundleOf } from "../../src/state/bundle-files.ts";
import { openState } from "../../src/state/state.ts";
import { absentOf, QUIET } from "./absent.ts";
import { eventsOf, hasResult, hookNamed, isAsExpected, plain } from "./answers.ts";
import type { Answer, Expected } from "./answers.ts";
import type { Result } from "./page.ts";

const HOOKS = { allowConversationAccess: true, allowInstallDecisions: true, allowPromptInjection: true };

export interface Installed {
  readonly id: string;
  readonly host: Host;
  /** The bundle, and what `api.pluginConfig` is. */
  readonly code: string;
  /** The tools that its manifest allows it, as in OpenClaw. */
  readonly contracted: readonly string[] | undefined;
  /** Its own files, as its cell gets them. */
  readonly own: string;
  readonly config: Record<string, unknown>;
  /** It throws without configuration, so it has sample values. */
  readonly needsConfiguration: boolean;
}

/** Installs a plugin, opens a host with it alone and hands both over. `source`: as `creel install` takes it. `root`: a folder for what is installed, which is removed again. */
export async function withInstalled<T>(source: string, root: string, use: (installed: Installed) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(root, "state-"));
  try {
    const state = openState(dir);
    const { review, entry } = await install(source, {
      state,
      config: {},
      base: dir,
      by: "compat",
      decide: async ({ permissions }) => ({ isAccepted: true, keys: new Set(permissions.map(({ key }) => key)) }),
    });
    // As the review was made: one that needs configuration has sample values.
    const loaded = await state.loadEntry(entry!);
    const needsConfiguration = review.remarks.some((remark) => remark.startsWith("it needs configuration"));
    const manifest = loaded.manifest as Record<string, unknown> & { contracts?: { tools?: string[] } };
    const schema = configSchemaOf(manifest);
    const [config = {}] = needsConfiguration ? sampleConfigs(schema, {}).toReversed() : [];
    await using host = await openHost({
      lanes: 1,
      allowFailed: true,
      logger: QUIET,
      config: {
        stateDir: dir,
        sandbox: { spare: false },
        plugins: { load: { lazy: false }, entries: { [review.id]: { hooks: HOOKS, config } } },
      },
    });
    return await use({
      id: review.id,
      host,
      code: loaded.code,
      contracted: manifest.contracts?.tools,
      own: bundleOf(loaded).own,
      config,
      needsConfiguration,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function tryPlugin(source: string, root: string, expected: Expected | undefined): Promise<Omit<Result, "version">> {
  return withInstalled(source, root, async ({ id, host, needsConfiguration }) => {
    const { error, diagnostics, hooks } = host.inspect(id);
    if (error) return { status: "refused", why: error.message };
    const failed: string[] = [];
    const differing: string[] = [];
    let compared = 0;
    const compare = (what: string, isSame: boolean): void => {
      compared += 1;
      if (!isSame) differing.push(what);
    };
    if (expected) for (const [kind, names] of Object.entries(expected.declares)) compare(kind, same(names, declared(host)[kind] ?? []));
    // This one is ours: it is behind `onAgentEvent`.
    const names = [...new Set(hooks.map(({ hook }) => hook))].filter((hook) => hook !== "agent:event").toSorted();
    if (expected) compare("hooks", same(Object.keys(expected.hooks), names));
    for (const hook of names) {
      const wanted = expected?.hooks[hook];
      for (const [at, { event, context }] of eventsOf(hook).entries()) {
        const { answer, faults } = await answerTo(host, hook, event, context);
        const isExpected = wanted?.[at] !== undefined;
        if (isExpected) compare(`${hook} ${at + 1}`, isAsExpected(wanted[at]!, answer));
        // A handler that throws in Node, too, does as its source says.
        if (!(isExpected && wanted[at]!.failed) && (at === 0 || isExpected)) failed.push(...faults.map((text) => `${hook}: ${text}`));
      }
    }
    const answers = expected && { answers: { same: compared - differing.length, of: compared } };
    if (failed.length > 0) return { status: "reduced", why: failed.join("; "), ...answers };
    if (differing.length > 0) return { status: "reduced", why: `not as its source says: ${differing.join(", ")}`, ...answers };
    const absent = absentOf(diagnostics);
    if (absent.length > 0) return { status: "reduced", why: `without ${absent.join(", ")}`, ...answers };
    return { status: "full", ...(needsConfiguration && { why: "needs configuration; tried with sample values" }), ...answers };
  });
}

const same = (names: readonly string[], found: readonly string[]): boolean => isSame([...names].toSorted(), [...found].toSorted());
const isSame = (names: readonly string[], found: readonly string[]): boolean =>
  names.length === found.length && names.every((name, at) => name === found[at]);

/** What the host knows of it, by kind. */
function declared(host: Host): Readonly<Record<string, readonly string[]>> {
  return {
    tools: host.tools().map(({ name }) => name),
    commands: host.commands().map(({ name }) => name),
    methods: host.methods().map(({ name }) => name),
    services: host.services().map(({ id }) => id),
  };
}

async function answerTo(host: Host, hook: string, event: object, context: object): Promise<{ answer: Answer; faults: string[] }> {
  const about = hookNamed(hook)!;
  const { decision, reason, result, calls, approval }: Outcome =
    about.kind === "sync"
      ? host.runSync(hook as never, event as never, context as never)
      : await host.run(hook as never, event as never, context as never);
  const faults = calls.flatMap(({ error }) => (error ? [error.message] : []));
  const isEnd = about.terminal !== undefined && decision !== "pass";
  const answer: Answer = {
    ...(faults.length > 0 && { failed: true }),
    ...(approval && { asks: approval.requests[0]!.title }),
    ...(isEnd && { decision, reason }),
    ...(hasResult(about) && result !== undefined && { result }),
  };
  return { answer: plain(answer), faults };
}
