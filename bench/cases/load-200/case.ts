// How long does a gateway with many plugins take to open? Two hundred plugins, each with its cell, against two hundred bare isolates with a context, kept, in a thread of their
// own. Bundles are there already: an installed plugin is bundled when it is installed. Beside it what is the rule for installed plugins, which sleep until a hook of
// theirs is run: opening, and opening with the first run, that wakes all two hundred. And two lanes, where there are cores for them: they load side by side.
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { openHost } from "creel";
import type { OpenOptions } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { stateFolder } from "../../state-folder.ts";
import { turn, turns } from "../../turns.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const COUNT = 200;

/** Until it is open, or has made its first run. Every plugin has to answer then, so that none is taken for loaded that is not. */
async function opened(options: OpenOptions, until: "open" | "run" = "open"): Promise<number> {
  const started = performance.now();
  await using host = await openHost({ lanes: 1, ...options });
  let took = performance.now() - started;
  const { calls } = await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
  if (until === "run") took = performance.now() - started;
  const wrong = calls.filter(({ status }) => status !== "ok");
  if (calls.length !== COUNT || wrong.length > 0)
    throw new Error(`${calls.length} of ${COUNT} plugins answered; ${JSON.stringify(wrong[0])}`);
  return took;
}

async function bare(): Promise<number> {
  const worker = new Worker(new URL("../../floors/many-isolates-worker.ts", import.meta.url), { workerData: COUNT });
  const [took] = (await once(worker, "message")) as [number];
  await worker.terminate();
  return took;
}

export default {
  question: "two hundred plugins: how long does a host take to open, in bare isolates?",
  run: async (effort) => {
    await using state = await stateFolder(COUNT);
    const config = { stateDir: state.path };
    const eager = { ...config, plugins: { load: { lazy: false } } };
    const series = await turns(
      [
        turn(`creel, thread, ${COUNT} plugins loaded`, () => opened({ isolation: "thread", config: eager })),
        turn(`creel, process, ${COUNT} plugins loaded`, () => opened({ isolation: "process", config: eager })),
        turn(`creel, thread, ${COUNT} plugins loaded, two lanes`, () => opened({ isolation: "thread", config: eager, lanes: 2 })),
        turn(`creel, process, ${COUNT} asleep`, () => opened({ isolation: "process", config })),
        turn(`creel, process, ${COUNT} asleep, woken by a run`, () => opened({ isolation: "process", config }, "run")),
        turn(`floor: ${COUNT} isolates with a context`, bare),
      ],
      effort,
      { unit: "ms", rounds: Math.max(3, Math.ceil(effort.rounds / 12)) },
    );
    const [thread, child, twice, asleep, woken, floor] = series as [Series, Series, Series, Series, Series, Series];
    return {
      ratios: [
        ratio(`creel, thread, all loaded / ${COUNT} bare isolates`, over(thread, floor), { atMost: 1.5 }),
        ratio(`creel, process, all loaded / ${COUNT} bare isolates`, over(child, floor)),
        ratio(`creel, thread, all loaded into two lanes / ${COUNT} bare isolates`, over(twice, floor)),
        ratio(`creel, process, asleep / ${COUNT} bare isolates`, over(asleep, floor)),
        ratio(`creel, process, woken by a run / ${COUNT} bare isolates`, over(woken, floor)),
      ],
      series,
    };
  },
} satisfies Case;
