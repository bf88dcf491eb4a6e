import type { Terminal } from "../../src/cli/ui/terminal.ts";
export async function gate(_out: Terminal, _err: Terminal): Promise<number> {
  return 0;
}
