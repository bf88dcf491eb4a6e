/** The debugger's options of `creel dev` and `creel call`, and what the terminal says when the port is open. */
import { attachWords } from "../../host/inspect/attach-words.ts";
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

/** How to attach, and what is different from now on. */
export function sayInspect(address: InspectAddress, isBreak: boolean, { line, paint }: Terminal): void {
  for (const text of attachWords(address, isBreak, paint)) line(text);
}
