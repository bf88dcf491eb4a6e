/** `creel serve`: a separate host process for gateways in other processes. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const serve = defineVerb({
  name: "serve",
  summary: "runs a host on a unix socket, for gateways in other processes and other languages, until Ctrl-C",
  options: {
    config: { type: "string", value: "creel.json", help: "a configuration (default: creel.json here, if there is one)" },
    socket: {
      type: "string",
      value: "path",
      help: "where to listen, in a folder that only you can access (default: in XDG_RUNTIME_DIR, one for each state folder)",
    },
    http: {
      type: "string",
      value: "port",
      help: "also answer HTTP hooks of other agents on 127.0.0.1, with a token; 0 takes any free port (default: no HTTP)",
    },
    fleet: { type: "boolean", help: "also join the fleet of the configuration: one lock for hosts on many machines (default: alone)" },
    isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
    "allow-failed": {
      type: "boolean",
      help: "serve even if a plugin does not load and its hooks are unknown (default: refuse to start)",
    },
  },
  examples: [
    "creel serve",
    "creel serve --config ./creel.json --socket ./run/creel.sock",
    "creel serve --http 7411",
    "creel serve --fleet",
  ],
  prints: "a line when it is ready: `{ ready, socket, pid, plugins, walls }`, and with `--http` also `http: { url, tokenFile }`",
  exits: { ok: "ended by Ctrl-C or SIGTERM", failed: "it could not be started" },
  async run({ values, isJson, out, err }) {
    const { existsSync } = await import("node:fs");
    const { pino } = await import("pino");
    const { serve: start } = await import("../../../serve/server.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const stop = new AbortController();
    // Registered first: a signal during loading must not leave a socket behind.
    const ended = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve(), { once: true }));
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const config = values.config ?? (existsSync("creel.json") ? "creel.json" : undefined);
    const { logLine } = await import("../../ui/log-line.ts");
    // Only a terminal can rewrite a line.
    const readable = err.rewrite && { write: (line: string) => err.line(logLine(line, err)) };
    const logger = pino({ name: "creel", level: "info" }, readable ?? pino.destination({ dest: 2, sync: true }));
    const { isolation } = values;
    const socket = await socketOf(values);
    const http = values.http === undefined ? undefined : Number(values.http);
    if (http !== undefined && !(Number.isInteger(http) && http >= 0 && http <= 65_535))
      throw new UsageError(`--http cannot be "${values.http}"`, "give a port from 0 to 65535");
    logger.info({ config, socket }, "opening host");
    await using served = await start({
      socket,
      logger,
      allowFailed: values["allow-failed"] === true,
      isFleet: values.fleet === true,
      ...(config !== undefined && { config }),
      ...(isolation && { isolation }),
      ...(http !== undefined && { http }),
    });
    const member = values.fleet === true ? await (await import("../../fleet/join.ts")).joinFleet(served, config, logger) : undefined;
    await using _joined = member;
    const plugins = served.host.plugins().map(({ id, status, error }) => ({ id, status, error: error?.message }));
    const asleep = plugins.filter(({ status }) => status === "asleep").length;
    // Lazy plugins were counted when the host opened, and log when they load.
    for (const plugin of plugins) if (plugin.status !== "asleep") logger.info(plugin, "plugin loaded");
    const walls = served.host.walls();
    const { isWalled, missing, why, fix } = walls;
    const { wallsWarning } = await import("../../../host/supervisor/launch/walls-report.ts");
    const warning = wallsWarning(walls);
    if (isJson)
      out.line(
        printableJson({
          ready: true,
          socket: served.socket,
          pid: process.pid,
          plugins,
          walls: { isWalled, missing, why, fix },
          ...(served.http && { http: { url: served.http.url, tokenFile: served.http.tokenFile } }),
        }),
      );
    else
      out.line(
        `${out.paint("green", "ready:")} ${served.socket} (pid ${process.pid}, ${plugins.length} plugin${plugins.length === 1 ? "" : "s"}${asleep === 0 ? "" : `, ${asleep} loaded when needed`})`,
      );
    if (served.http && !isJson) out.line(`${out.paint("green", "http:")} ${served.http.url} (token in ${served.http.tokenFile})`);
    if (warning !== undefined && !isJson) out.line(`${out.paint("red", "!")} ${warning}; "creel doctor" says what to do`);
    await ended;
    err.line(err.paint("gray", "closing: waiting for calls in flight"));
    return EXIT.ok;
  },
});
