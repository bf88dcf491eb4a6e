/** `creel console`: a page in the browser for a host that creel serve runs. The page's server is this process, not the host's. */
import { UsageError } from "../../options.ts";
import type { ConsoleTools } from "../../../console/console-tools.ts";
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const consoleVerb = defineVerb({
  name: "console",
  summary: "opens a page for a host that creel serve runs: live runs, approvals to answer, plugins, charts, until Ctrl-C",
  options: {
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" },
    port: { type: "string", value: "port", help: "where to listen, on 127.0.0.1 (default: any free port)" },
    "no-open": { type: "boolean", help: "print the address, and open no browser" },
    "read-only": { type: "boolean", help: "the page may look, and not act: no answers to approvals, no switches" },
    ...PROJECT_OPTIONS,
  },
  examples: ["creel console", "creel console --port 7412 --no-open", "creel console --read-only"],
  prints: "a line when it is ready: `{ ready, address, port, tokenFile }`; the address works once, within a minute",
  exits: { ok: "ended by Ctrl-C or SIGTERM", failed: "no host answers there, or the port is taken" },
  async run({ values, isJson, out, err }) {
    const { joinHost } = await import("../../../sdk/remote/remote-host.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { serveConsole } = await import("../../../console/console-server.ts");
    const { silentLogger } = await import("../../../host/report/silent-logger.ts");
    const port = Number(values.port ?? 0);
    if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
      throw new UsageError(`--port cannot be "${values.port}"`, "give a port from 0 to 65535");
    const ended = new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    });
    const socket = await socketOf(values);
    const logger = silentLogger;
    const tools = await toolsOf(values);
    await using host = await joinHost({ connect: socket, logger });
    await using server = await serveConsole(host, {
      port,
      readOnly: values["read-only"] === true,
      tokenFile: `${socket}.console-token`,
      ...(tools && { tools }),
      logger,
    });
    const address = server.newAddress();
    const { tokenFile } = server;
    if (isJson) out.line(JSON.stringify({ ready: true, address, port: server.port, tokenFile }));
    else {
      out.line(`${out.paint("green", "ready:")} ${address}`);
      err.line(
        err.paint("gray", `the address works once, within a minute; /metrics takes the token in ${tokenFile}; press Ctrl-C to stop`),
      );
    }
    // Without a terminal there is no person to show a window to.
    if (!isJson && !values["no-open"] && process.stdout.isTTY) await opened(address);
    await ended;
    return EXIT.ok;
  },
});

/** Undefined: there is no state folder here, so nothing is recorded or installed. */
async function toolsOf(values: { readonly config?: string; readonly "state-dir"?: string }): Promise<ConsoleTools | undefined> {
  const { findProject } = await import("../../plugins/project.ts");
  const { projectTools } = await import("../../console/project-tools.ts");
  const { CreelError } = await import("../../../protocol/errors.ts");
  try {
    return projectTools(await findProject(values));
  } catch (error) {
    if (error instanceof CreelError && error.code === "ERR_INSTALL_NO_STATE") return undefined;
    throw error;
  }
}

/** Asks the desktop for its browser; if there is none, the printed address is enough. */
async function opened(address: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const command = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(command, [address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
