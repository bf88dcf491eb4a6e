/** Shows a page that is longer than the screen with the person's pager, and any other page as it is. */
import { spawnSync } from "node:child_process";
import type { Terminal } from "./terminal.ts";

/** -R keeps colours; -X leaves the text on the screen, above the question that may follow. */
const LESS = ["-R", "-X", "-P", "press Space for more, q to go on"];

/** True: it was longer than the screen, so its beginning is out of sight. */
export function paged(terminal: Terminal, write: (page: Terminal) => void): boolean {
  const { rows, line } = terminal;
  if (rows === undefined) {
    write(terminal);
    return false;
  }
  const { rewrite: _, ...rest } = terminal;
  const lines: string[] = [];
  write({ ...rest, line: (text = "") => void lines.push(...text.split("\n")) });
  const isLong = lines.length >= rows;
  if (!isLong || !shown(`${lines.join("\n")}\n`)) for (const text of lines) line(text);
  return isLong;
}

/** False: there is no pager. */
function shown(text: string): boolean {
  const { PAGER = "less" } = process.env;
  if (PAGER === "" || PAGER === "cat") return false;
  // SECURITY: less has commands that run others, and the page quotes third parties. LESSSECURE turns them off.
  // test/cli/first-hour.test.ts
  const env = { ...process.env, LESSSECURE: "1" };
  const isLess = PAGER === "less";
  const { error, status } = spawnSync(PAGER, isLess ? LESS : [], {
    input: text,
    stdio: ["pipe", "inherit", "inherit"],
    env,
    shell: !isLess,
  });
  return error === undefined && status !== 127;
}
