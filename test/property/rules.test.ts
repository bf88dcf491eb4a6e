/**
 * 10,000 random runs per isolation, many in flight at once, over random plugins, priorities and lanes: the host must come
 * to what the model comes to. The seed is fixed, so that a failure can be played again; `CREEL_SEED=$RANDOM` looks elsewhere.
 */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Outcome, RequestApproval } from "creel";
import { contract, open, openUnpinned } from "../support/host.ts";
import { afterApproval, answerTo, failurePrefix, play } from "./model.ts";
import type { Expected, Wishes } from "./model.ts";
import { HOOKS, OWN, pluginsOf, randomRun, world } from "./worlds.ts";
import type { RandomRun, World } from "./worlds.ts";

const WORLDS = 10;
const BATCHES = 10;
const IN_FLIGHT = 100;
const SEED = Number(process.env.CREEL_SEED ?? 2026);

/** The description of the first request says how the user answers. */
const requestApproval: RequestApproval = async ({ requests }) => {
  const answer = answerTo(requests);
  if (answer === "throw") throw new Error("RPC down");
  return answer === "null" ? null : (answer as "deny");
};

interface Untyped {
  run(hook: string, event: object, context: object): Promise<Outcome>;
  runSync(hook: string, event: object, context: object): Outcome;
}

contract("random runs", (isolation) => {
  it.each(Array.from({ length: WORLDS }, (_, index) => index))(
    "1,000 random runs in world %i come to what the model comes to",
    async (index) => {
      const seed = SEED + index;
      const [here] = fc.sample(world, { seed, numRuns: 1 }) as [World];
      // Chains that cross lanes, and chains that the host keeps in one.
      await using host = await (index % 2 === 0 ? open : openUnpinned)(isolation, {
        lanes: here.lanes,
        hooks: OWN,
        plugins: pluginsOf(here),
        config: { hooks: { failure: here.failure } },
        gateway: { requestApproval },
      });
      expect(host.plugins().map(({ status, diagnostics }) => [status, refused(diagnostics)])).toEqual(
        here.plugins.map(() => ["ready", []]),
      );
      const batch = fc.array(randomRun(here), { minLength: IN_FLIGHT, maxLength: IN_FLIGHT, size: "max" });
      const property = fc.asyncProperty(batch, (runs) => compare(host as unknown as Untyped, here, runs, seed));
      // The error shows the one run that differs; shrinking a batch of a hundred would say less.
      const { failed, errorInstance } = await fc.check(property, { seed, numRuns: BATCHES, endOnFailure: true });
      if (failed) throw errorInstance;
    },
    120_000,
  );
});

/** That a policy cannot have an effect on a hook is said, and right. */
const refused = (diagnostics: readonly string[]) => diagnostics.filter((text) => !text.startsWith("hooks.failure sets"));

let agents = 0;

async function compare(host: Untyped, here: World, runs: readonly RandomRun[], seed: number): Promise<void> {
  const handlers = here.plugins.flatMap((plugin) => plugin.handlers);
  await Promise.all(
    runs.map(async ({ hook, event, script, isBlocking }) => {
      const sent = { ...event, script };
      const before = JSON.stringify(sent);
      // "Always" is remembered per agent: every run is another's, and stands for itself.
      const context = { toolName: event.toolName ?? "t", channelId: "c", agentId: `agent-${agents++}` };
      const outcome = isBlocking ? host.runSync(hook, sent, context) : await host.run(hook, sent, context);
      const definition = HOOKS[hook]!;
      const wishes: Wishes = { requests: [], changes: new Map() };
      const played = play(definition, handlers, script, event, here.failure[hook] ?? definition.failure, wishes);
      const expected = afterApproval(played, wishes);
      const actual = plain(outcome, expected);
      if (JSON.stringify(sent) !== before) throw new Error(`CREEL_SEED=${seed}: ${hook} changed the gateway's event`);
      if (isDeepStrictEqual(actual, JSON.parse(JSON.stringify(expected)))) return;
      expect(actual, `CREEL_SEED=${seed}: ${hook} over ${JSON.stringify({ event, script })}`).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
  );
}

/** An outcome as the model states it: no costs, and of a failure's reason only who failed. */
function plain({ decision, by, result, reason, calls, approval, hook }: Outcome, expected: Expected): unknown {
  const prefix = by === undefined ? undefined : failurePrefix(hook, by);
  const isFailure = prefix !== undefined && expected.reason === prefix && reason?.startsWith(prefix);
  const terminal = HOOKS[hook]!.terminal?.reason;
  const shown = isFailure && terminal ? { ...(result as object), [terminal]: prefix } : result;
  return JSON.parse(
    JSON.stringify({
      decision,
      by,
      result: shown,
      reason: isFailure ? prefix : reason,
      calls: calls.map(({ plugin, priority, status }) => [plugin, priority, status]),
      approval,
    }),
  );
}
