/**
 * Measures one `creel hook` call against `node -e 0`, interleaved, on the built package: `npm run build`, then
 * `node -C source scripts/hook-start.ts [rounds]`; the last line is the verdict. It starts its own `creel serve` with one guard. The numbers
 * are in docs/guides/other-agents.md.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROUNDS = Number(process.argv[2] ?? 20);
/** A call, in starts of Node. */
const AT_MOST = 3;
const creel = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "creel-hook-"));
chmodSync(folder, 0o700);
const socket = join(folder, "s.sock");
writeFileSync(join(folder, "guard.js"), `export default (api) => api.on("before_tool_call", () => ({ block: true, blockReason: "no" }));`);
writeFileSync(join(folder, "creel.json"), JSON.stringify({ plugins: { load: { paths: ["./guard.js"] } } }));
const payload = JSON.stringify({ hook_event_name: "PreToolUse", session_id: "s", tool_name: "Bash", tool_input: { command: "ls" } });

function timed(args: readonly string[], input: string): { ms: number; stdout: string } {
  const start = performance.now();
  const { stdout } = spawnSync(process.execPath, args, { input, encoding: "utf8" });
  return { ms: performance.now() - start, stdout };
}

const host = spawn(process.execPath, [creel, "serve", "--config", join(folder, "creel.json"), "--socket", socket], {
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  await once(host.stdout, "data");
  const hook = [creel, "hook", "--for", "claude-code", "--event", "PreToolUse", "--socket"];
  const times: { node: number; hook: number; away: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const node = timed(["-e", "0"], "").ms;
    const call = timed([...hook, socket], payload);
    if (!call.stdout.includes('"deny"')) throw new Error(`not an answer: ${call.stdout}`);
    const away = timed([...hook, `${socket}.none`], payload).ms;
    times.push({ node, hook: call.ms, away });
  }
  const median = (key: "node" | "hook" | "away"): number => {
    const sorted = times.map((time) => time[key]).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)]!;
  };
  const [node, call, away] = [median("node"), median("hook"), median("away")];
  const line = { rounds: ROUNDS, nodeMs: node, hookMs: call, awayMs: away };
  const ratio = call / node;
  for (const one of [line, { verdict: { hookToNode: { value: ratio, atMost: AT_MOST, isMet: ratio <= AT_MOST }, load: loadavg()[0] } }])
    console.log(JSON.stringify(one, (_, value: unknown) => (typeof value === "number" ? Math.round(value * 100) / 100 : value)));
} finally {
  host.kill("SIGTERM");
  await once(host, "exit");
  rmSync(folder, { recursive: true, force: true });
}
