/**
 * For `npm run compat`: one plugin, as an operator installs it without a terminal, with every permission that it
 * requests. Then every hook gets an event, and what it declares is counted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { install } from "../../src/install/install.ts";
import { configSchemaOf } from "../../src/install/manifest/config-schema.ts";
import { sampleConfigs } from "../../src/install/review/sample-config.ts";
import { CATALOG } from "../../src/protocol/catalog.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { sampleContext, sampleEvent } from "../../src/protocol/rules/samples.ts";
import { openHost } from "../../src/sdk/open-host.ts";
import { openState } from "../../src/state/state.ts";
import { absentOf, QUIET } from "./absent.ts";
import type { Result } from "./page.ts";

const HOOKS = { allowConversationAccess: true, allowInstallDecisions: true, allowPromptInjection: true };

/** `source`: as `creel install` takes it. `root`: a folder for what is installed, which is removed again. */
export async function tryPlugin(source: string, root: string): Promise<Omit<Result, "version">> {
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
    const manifest = (await state.loadEntry(entry!)).manifest as Record<string, unknown>;
    const needs = review.remarks.some((remark) => remark.startsWith("it needs configuration"));
    const configs = needs ? sampleConfigs(configSchemaOf(manifest), {}).toReversed() : [{}];
    await using host = await openHost({
      lanes: 1,
      allowFailed: true,
      logger: QUIET,
      config: {
        stateDir: dir,
        sandbox: { spare: false },
        plugins: { load: { lazy: false }, entries: { [review.id]: { hooks: HOOKS, config: configs[0] } } },
      },
    });
    const { error, diagnostics, hooks } = host.inspect(review.id);
    if (error) return { status: "refused", why: error.message };
    const configured = needs ? { why: "needs configuration; tried with sample values" } : {};
    const failed: string[] = [];
    for (const { hook } of hooks) {
      const about = (CATALOG as unknown as Record<string, AnyHook>)[hook];
      if (!about || about.kind === "sync") continue;
      const { calls } = await host.run(hook as never, sampleEvent(about) as never, sampleContext(about) as never);
      for (const call of calls) if (call.error) failed.push(`${hook}: ${call.error.message}`);
    }
    if (failed.length > 0) return { status: "reduced", why: failed.join("; ") };
    const absent = absentOf(diagnostics);
    return absent.length > 0 ? { status: "reduced", why: `without ${absent.join(", ")}` } : { status: "full", ...configured };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
