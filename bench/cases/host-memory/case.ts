// What does a host cost in memory, in all its processes together? With 0, 10 and 50 plugins: the gateway's share, the sandbox and the spare, in PSS, so that pages that
// processes share count once. The gateway is a process of its own, and its share is what it takes more than before it opened the host.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";

const COUNTS = [0, 10, 50];

/** Prints the megabytes of the gateway's share and of all its children. The spare starts a second after the first plugin was loaded. */
const GATEWAY = `
  import { readFileSync } from "node:fs";
  import { openHost } from "creel";
  const pss = (pid) => { try { return Number(/^Pss:\\s+(\\d+) kB$/m.exec(readFileSync("/proc/" + pid + "/smaps_rollup", "utf8"))[1]) / 1024; } catch { return 0; } };
  const children = (pid) => { try { return readFileSync("/proc/" + pid + "/task/" + pid + "/children", "utf8").trim().split(" ").filter(Boolean).flatMap((one) => [one, ...children(one)]); } catch { return []; } };
  const plugins = Array.from({ length: Number(process.argv[1]) }, (_, at) => ({ id: "idle-" + at, source: 'export default (api) => { api.on("message_sending", async (event, ctx) => ({ content: event.content + ctx.channelId })); };' }));
  const before = pss("self");
  const host = await openHost({ isolation: "process", plugins });
  if (plugins.length > 0) await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const found = children(process.pid);
  console.log(JSON.stringify({ gateway: pss("self") - before, others: found.reduce((sum, pid) => sum + pss(pid), 0) }));
  await host.close();
`;

function sized(count: number): Turn<string> {
  const names = [`${count} plugins, gateway's share`, `${count} plugins, sandbox, spare and bundler`, `${count} plugins, all together`];
  return {
    names,
    async once() {
      const args = ["--input-type=module", "--eval", GATEWAY, String(count)];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
      const { gateway, others } = JSON.parse(stdout) as { gateway: number; others: number };
      return { [names[0]!]: gateway, [names[1]!]: others, [names[2]!]: gateway + others };
    },
  };
}

export default {
  question: "a host with 0, 10 and 50 plugins: how much memory do all its processes take together?",
  async run(effort) {
    const series = await turns(COUNTS.map(sized), effort, { unit: "MB", rounds: Math.max(2, Math.ceil(effort.rounds / 30)) });
    return { ratios: series.map(({ name, rounds }) => ratio(name, rounds, undefined, "MB")), series };
  },
} satisfies Case;
