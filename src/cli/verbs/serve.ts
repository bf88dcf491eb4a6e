/** `creel serve`: a host of its own, for gateways of other processes. */
import { defineVerb, EXIT } from "../verb.ts";

export const serve = defineVerb({
  name: "serve",
  summary: "runs a host on a unix socket, for gateways in other processes and other languages, until Ctrl-C",
  options: {
    config: { type: "string", value: "creel.json", help: "a configuration (default: creel.json here, if there is one)" },
    socket: {
      type: "string",
      value: "path",
      help: "where to listen, in a folder that only you may enter (default: creel/serve.sock in XDG_RUNTIME_DIR)",
    },
    isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
  },
  examples: ["creel serve", "creel serve --config ./creel.json --socket ./run/creel.sock"],
  prints: "a line when it is ready: `{ ready, socket, pid, plugins }`",
  exits: { ok: "ended by Ctrl-C or SIGTERM", failed: "it could not be started" },
  async run({ values, isJson, out, err }) {
    const { existsSync } = await import("node:fs");
    const { pino } = await import("pino");
    const { serve: start } = await import("../../serve/server.ts");
    const { defaultSocket } = await import("../../sdk/serve-place.ts");
    const { printable } = await import("../ui/json.ts");
    const stop = new AbortController();
    // From the beginning: whoever ends it while plugins load must not leave a socket behind.
    const ended = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve(), { once: true }));
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const config = values.config ?? (existsSync("creel.json") ? "creel.json" : undefined);
    const logger = pino({ name: "creel", level: "info" }, pino.destination({ dest: 2, sync: true }));
    const { isolation, socket = defaultSocket() } = values;
    logger.info({ config, socket }, "the host is opened");
    await using served = await start({ socket, logger, ...(config !== undefined && { config }), ...(isolation && { isolation }) });
    const plugins = served.host.plugins().map(({ id, status, error }) => ({ id, status, error: error?.message }));
    const asleep = plugins.filter(({ status }) => status === "asleep").length;
    // Those who sleep were counted when the host opened, and say so when they are loaded.
    for (const plugin of plugins) if (plugin.status !== "asleep") logger.info(plugin, "a plugin of this host");
    if (isJson) out.line(printable({ ready: true, socket: served.socket, pid: process.pid, plugins }));
    else
      out.line(
        `${out.paint("green", "ready:")} ${served.socket} (pid ${process.pid}, ${plugins.length} plugin${plugins.length === 1 ? "" : "s"}${asleep === 0 ? "" : `, ${asleep} asleep until needed`})`,
      );
    await ended;
    err.line(err.paint("gray", "ending: what is in flight may finish"));
    return EXIT.ok;
  },
});
