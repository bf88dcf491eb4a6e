/** `creel metrics`: the measurements of a host, as Prometheus reads them. */
import { defineVerb, EXIT } from "../../verb.ts";

export const metrics = defineVerb({
  name: "metrics",
  summary: "prints the measurements of a host that creel serve runs as OpenMetrics text, the same that the console serves at /metrics",
  options: {
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" },
  },
  examples: ["creel metrics", "creel metrics | grep creel_calls_total", "creel metrics --json | jq .eventLoop"],
  prints: "the same numbers as `host.stats()` gives them: `hooks`, `plugins`, `processes`, `lanes`, `eventLoop` …",
  exits: { ok: "printed", failed: "no host answers there" },
  async run({ values, isJson, out }) {
    const { openHost } = await import("../../../sdk/open-host.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { openMetrics } = await import("../../../console/metrics.ts");
    const { printableJson } = await import("../../ui/text.ts");
    await using host = await openHost({ connect: await socketOf(values) });
    const stats = await host.stats();
    out.line(isJson ? printableJson(stats) : openMetrics(stats).trimEnd());
    return EXIT.ok;
  },
});
