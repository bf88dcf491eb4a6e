/**
 * Inside the isolate: runs a command line that a plugin declared with `api.registerCli`. What the command writes is its
 * output, and not a line of the log.
 */
import { output, turn } from "../turn/mailbox.ts";
import { process } from "../node/process.ts";
import { Command } from "./cli-command.ts";

export { Command };

interface Written {
  stdout: string;
  stderr: string;
}

/** Characters of a command's output; what is beyond is left out, and said so. */
const MAX_CHARS = 256 * 1024;
const WARN = 2;

/** By the number of the call: everything until the end of a turn belongs to one. */
const writing = new Map<number, Written>();

function write(level: number, text: string): boolean {
  const written = writing.get(turn.call);
  if (!written) return false;
  const to = level >= WARN ? "stderr" : "stdout";
  const before = written[to];
  if (before.length <= MAX_CHARS)
    written[to] = before.length + text.length > MAX_CHARS ? `${before}… (the output is too long)\n` : `${before}${text}\n`;
  return true;
}

/** `register` adds the plugin's commands to the program; `words` are those behind the name of `root`. */
export async function run(register: (program: Command) => unknown, root: string, words: readonly string[]): Promise<object> {
  const written: Written = { stdout: "", stderr: "" };
  const { call } = turn;
  writing.set(call, written);
  output.take = write;
  try {
    const program = new Command("openclaw");
    await register(program);
    process.exitCode = undefined;
    let exitCode = await program.run([root, ...words]).catch((error: unknown) => {
      const { exitCode: code } = Object(error) as { exitCode?: unknown };
      if (typeof code === "number") return code;
      throw error;
    });
    if (exitCode === 0 && typeof process.exitCode === "number") exitCode = process.exitCode;
    return { exitCode, ...written };
  } finally {
    writing.delete(call);
    if (writing.size === 0) output.take = undefined;
  }
}
