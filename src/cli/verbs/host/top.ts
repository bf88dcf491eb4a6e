/** `creel top`: what runs in a host right now. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const DEFAULT_SECONDS = 2;

export const top = defineVerb({
  name: "top",
  summary:
    "shows live what a host of creel serve does: plugins with rates, times, CPU and heap, hooks with their slowest plugin, runs in flight, pending approvals",
  options: {
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" },
    once: { type: "boolean", help: "prints one picture, of everything since the host opened, and ends; so it does in a pipe" },
    every: { type: "string", value: "s", help: `a new picture every so many seconds (default: ${DEFAULT_SECONDS})` },
  },
  examples: ["creel top", "creel top --once", "creel top --once --json | jq '.plugins[] | {plugin, p99Ms}'"],
  prints:
    "a line per picture, with --once a single one: `host`, `seconds` (what it covers), `runsPerSecond`, `plugins`, `hooks`, `runs` (in flight), `approvals` (pending), `processes`, `eventLoop`",
  exits: { ok: "ended by q or Ctrl-C, or after one picture", failed: "no host answers there" },
  async run({ values, isJson, out }) {
    const every = Number(values.every ?? DEFAULT_SECONDS);
    if (!(every >= 0.1 && every <= 3600)) throw new UsageError(`--every cannot be "${values.every}"`, "give seconds from 0.1 to 3600");
    const { openHost } = await import("../../../sdk/open-host.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { topLines } = await import("../../top/page.ts");
    const { pictures } = await import("../../top/pictures.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    await using host = await openHost({ connect: await socketOf(values) });
    const isOnce = values.once === true || (!process.stdout.isTTY && !isJson);
    if (isOnce || isJson) {
      for await (const view of pictures(host, every * 1000, stop.signal, isOnce)) {
        if (isJson) out.line(printableJson(view));
        else for (const line of topLines(view, out)) out.line(line);
      }
      return EXIT.ok;
    }
    const { TopScreen } = await import("../../top/screen.ts");
    using screen = new TopScreen(process.stdout, process.stdin, () => stop.abort());
    for await (const view of pictures(host, every * 1000, stop.signal, false)) screen.draw(topLines(view, screen, screen.rows));
    return EXIT.ok;
  },
});
