/** What to type next, for somebody who has never done this: a line behind what was asked for. */
import { command, quoted } from "../self.ts";
import type { Terminal } from "./terminal.ts";

/** Of a command line: options that are not given are left out. */
export function commandLine(words: readonly string[], options: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, quoted(value)]));
  return [command(), ...words.map(quoted), ...given].join(" ");
}

export function next({ line, paint }: Terminal, text: string): void {
  line(`${paint("gray", "next:")} ${paint("cyan", text)}`);
}
