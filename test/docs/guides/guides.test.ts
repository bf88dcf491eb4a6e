/** Every command block of the guides and of the first pages is run, here or in the test that it names. The longest walk is operating.test.ts. */
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { write } from "../../support/files.ts";
import { hasPty } from "../../support/pty.ts";
import { openRegistry } from "../../support/registry.ts";
import { stepsOf } from "./blocks.ts";
import { ASKS, LOOPER, WEATHER } from "./plugins.ts";
import { Walk } from "./walk.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PREFLIGHT = join(ROOT, "plugins-examples/tool-preflight");
const pages = ["README.md", "examples/gateway/README.md", ...globSync("docs/{first,guides}/*.md", { cwd: ROOT })];

/** What a page of the guides needs before its commands: files of the gateway's folder. */
const STAGES: Readonly<Record<string, Readonly<Record<string, (at: string) => void>>>> = {
  "docs/guides/approvals.md": {
    guard: (at) =>
      write(at, {
        ...ASKS,
        "creel.json": JSON.stringify({
          stateDir: ".creel",
          approvals: { plugin: { answerable: true } },
          plugins: { load: { paths: ["./guard"] } },
        }),
      }),
  },
  "docs/guides/durable-events.md": {
    looper: (at) =>
      write(at, {
        ...LOOPER,
        "creel.json": JSON.stringify({
          stateDir: ".creel",
          hooks: { durable: ["session:end"] },
          plugins: { load: { paths: ["./biller"] } },
        }),
      }),
  },
  "docs/guides/installing.md": {},
  "docs/guides/console.md": { config: (at) => write(at, { "creel.json": `{ "stateDir": ".creel" }` }) },
  "docs/guides/other-agents.md": { config: (at) => write(at, { "creel.json": `{ "stateDir": ".creel" }` }) },
  "docs/guides/replay.md": {
    recorded: (at) => {
      for (const name of ["tool-preflight", "tool-preflight-next"]) cpSync(PREFLIGHT, join(at, name), { recursive: true });
      const file = join(at, "tool-preflight-next/index.ts");
      const blocks = `if (/\\| sh$/.test(String(event.params.command))) return { block: true, blockReason: "no pipes into a shell" };`;
      writeFileSync(file, readFileSync(file, "utf8").replace("(event) => {", `(event) => { ${blocks}`));
      const config = { stateDir: ".creel", record: { enabled: true }, plugins: { load: { paths: ["./tool-preflight"] } } };
      write(at, { "creel.json": JSON.stringify(config) });
    },
  },
};

/** The commands that a test neither has as they stand on the page, nor declares in a line `// runs: …` beside what does the same. */
function notIn(tests: string, commands: readonly string[]): string[] {
  const text = tests
    .split(", ")
    .map((test) => readFileSync(join(ROOT, test), "utf8"))
    .join("\n");
  return commands.filter((command) => !text.includes(command));
}

describe("a guide", () => {
  it.each(pages)("%s has command blocks that are run by a test", (page) => {
    const steps = stepsOf(join(ROOT, page));
    const unrun = steps.flatMap((step) => (step.kind === "elsewhere" ? notIn(step.tests, step.commands) : []));
    expect(unrun).toEqual([]);
    const isRun = page in STAGES || page === "docs/guides/operating.md";
    expect(isRun || steps.every(({ kind }) => kind !== "command")).toBe(true);
  });

  it.runIf(hasPty).each(Object.keys(STAGES))("%s prints what its commands print", { timeout: 120_000 }, async (page) => {
    await using registry = await openRegistry();
    if (page.endsWith("installing.md")) await registry.publish({ name: "weather", version: "1.2.3" }, WEATHER);
    await using walk = await Walk.begin(join(ROOT, page), registry.env);
    const acts = Object.entries(STAGES[page]!).map(([name, act]) => [name, async () => act(walk.folder)] as const);
    expect(await walk.all(Object.fromEntries(acts))).toBeGreaterThan(0);
  });
});
