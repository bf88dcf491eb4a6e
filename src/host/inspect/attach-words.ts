/** Trusted side: what an author reads about a debugger's address, from the command line and in a test. */
import type { InspectAddress } from "./door.ts";

type Paint = (style: "green" | "bold" | "cyan" | "gray" | "yellow", text: string) => string;

/** Lines: how to attach, and what is different from now on. */
export function attachWords({ plugin, devtools, port }: InspectAddress, isBreak: boolean, paint: Paint = (_, text) => text): string[] {
  return [
    `${paint("green", "●")} a debugger can attach to ${paint("bold", plugin)} at port ${port}, from this machine only`,
    `  Chrome    ${paint("cyan", devtools)}`,
    `  VS Code   .vscode/launch.json:`,
    ...launchJson(plugin, port)
      .split("\n")
      .map((line) => paint("gray", `    ${line}`)),
    `  terminal  ${paint("cyan", `node inspect 127.0.0.1:${port}`)}`,
    `  ${paint("yellow", "!")} all budgets of ${plugin} but memory are off while it is inspected`,
    ...(isBreak ? ["  waiting for a debugger …"] : []),
  ];
}

/** As VS Code wants it in `.vscode/launch.json`. */
function launchJson(plugin: string, port: number): string {
  const configuration = {
    name: `creel: ${plugin}`,
    type: "node",
    request: "attach",
    address: "127.0.0.1",
    port,
    // By default it sends a Host header without a port, which the door refuses.
    remoteHostHeader: `127.0.0.1:${port}`,
    // It looks for child processes otherwise, and finds none that it may debug.
    attachExistingChildren: false,
    autoAttachChildProcesses: false,
    // The sources are in the map; by default only those of the open folder count.
    resolveSourceMapLocations: null,
  };
  return JSON.stringify({ version: "0.2.0", configurations: [configuration] }, undefined, 2);
}
