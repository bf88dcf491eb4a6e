/** The debugger's options of `creel dev` and `creel call`, and what the terminal says about them. */
import type { InspectAddress } from "../../host/inspect/door.ts";
import { UsageError } from "../options.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Options } from "../verb.ts";

export const INSPECT_OPTIONS = {
  inspect: { type: "string", isOptional: true, value: "port", help: "open a port for a debugger (default: 9229, or any that is free)" },
  "inspect-brk": {
    type: "string",
    isOptional: true,
    value: "port",
    help: "the same, and load the plugin only when a debugger has attached; it pauses at the first line",
  },
} as const satisfies Options;

export interface Inspection {
  readonly port: number | undefined;
  readonly isBreak: boolean;
}

/** Undefined: no debugger is wanted. */
export function inspectionOf(values: {
  readonly inspect?: string | undefined;
  readonly "inspect-brk"?: string | undefined;
}): Inspection | undefined {
  const brk = values["inspect-brk"];
  const text = brk ?? values.inspect;
  if (text === undefined) return undefined;
  const port = text === "" ? undefined : Number(text);
  if (port !== undefined && (!/^\d+$/.test(text) || port > 65_535))
    throw new UsageError(`"${text}" is not a port`, "give a number from 0 to 65535, such as --inspect=9230; 0 is any free port");
  return { port, isBreak: brk !== undefined };
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

/** How to attach, and what is different from now on. */
export function sayInspect(plugin: string, { devtools, port }: InspectAddress, isBreak: boolean, { line, paint }: Terminal): void {
  line(`${paint("green", "●")} a debugger can attach to ${paint("bold", plugin)} at port ${port}, from this machine only`);
  line(`  Chrome    ${paint("cyan", devtools)}`);
  line(`  VS Code   .vscode/launch.json:`);
  for (const text of launchJson(plugin, port).split("\n")) line(paint("gray", `    ${text}`));
  line(`  terminal  ${paint("cyan", `node inspect 127.0.0.1:${port}`)}`);
  line(`  ${paint("yellow", "!")} all budgets of ${plugin} but memory are off while it is inspected`);
  if (isBreak) line("  waiting for a debugger …");
}
