/**
 * A real Prometheus reads a busy host, and answers every query of the dashboard: `node -C source scripts/prometheus.ts <prometheus>`, the
 * program of Debian's package `prometheus`. Exits with 1 if it cannot read the host, or a query has no line, or the exemplars have no run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { queries } from "./grafana-dashboard.ts";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("name the program: node -C source scripts/prometheus.ts /usr/bin/prometheus");

const SCRAPES = 8;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Blocks, asks, is refused a request, and fails so often that its breaker opens. */
const SOURCE = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    if (event.toolName === "fail") throw new Error("no");
    if (event.toolName === "ask") return { requireApproval: { title: "t", description: "d" } };
    if (event.toolName === "fetch") await fetch("https://nowhere.example").catch(() => {});
    if (event.params.bad) return { block: true, blockReason: "no" };
  });
};`;

interface Answer {
  readonly status: string;
  readonly data?: { readonly result?: unknown[]; readonly activeTargets?: { readonly health: string; readonly lastError: string }[] };
  readonly error?: string;
}

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const folder = mkdtempSync(join(tmpdir(), "creel-prometheus-"));
await using host = await openHost({
  isolation: "thread",
  lanes: 1,
  logger: silent,
  plugins: [{ id: "gate", source: SOURCE }],
  gateway: { requestApproval: async () => "allow-once" },
  config: { stateDir: join(folder, "state"), sandbox: { spare: false, walls: "none" } },
});
await using server = await serveConsole(host, { logger: silent });
const config = {
  global: { scrape_interval: "1s" },
  scrape_configs: [
    {
      job_name: "creel",
      authorization: { credentials_file: server.tokenFile },
      static_configs: [{ targets: [`127.0.0.1:${server.port}`] }],
    },
  ],
};
// JSON is YAML.
writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
const port = await freePort();
const child = spawn(
  program,
  [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--enable-feature=exemplar-storage",
    "--log.level=error",
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
const ask = async (path: string): Promise<Answer> => (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as Answer;

const problems: string[] = [];
try {
  const run = (toolName: string, params: Record<string, unknown> = {}): Promise<unknown> =>
    host.run("before_tool_call", { toolName, params });
  while ((await ask("query?query=1").catch(() => undefined))?.status !== "success") await sleep(100);
  for (let at = 0; at < SCRAPES; at++) {
    for (const toolName of ["exec", "ask", "fetch"]) await run(toolName);
    await run("exec", { bad: true });
    if (at === SCRAPES - 2) for (let times = 0; times < 15; times++) await run("fail");
    await sleep(1_000);
  }
  const [target] = (await ask("targets")).data?.activeTargets ?? [];
  if (target?.health !== "up") problems.push(`Prometheus cannot read /metrics: ${target?.lastError}`);
  for (const query of queries()) {
    const { data, error } = await ask(`query?query=${encodeURIComponent(query.replaceAll("$__rate_interval", "5s"))}`);
    const lines = data?.result?.length ?? 0;
    console.log(`${String(lines).padStart(4)}  ${query}`);
    if (error !== undefined || lines === 0) problems.push(`${query}: ${error ?? "no line"}`);
  }
  const now = Date.now() / 1_000;
  const found = await ask(`query_exemplars?query=creel_run_duration_seconds_bucket&start=${now - 60}&end=${now}`);
  if (!/"run_id":"h[^"]+"/.test(JSON.stringify(found))) problems.push("no exemplar names its run");
} finally {
  const ended = once(child, "exit");
  child.kill();
  await ended;
  rmSync(folder, { recursive: true });
}
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "Prometheus read the host and answered every query" : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
