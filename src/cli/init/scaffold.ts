/** The files of a new plugin. Its own test passes at once: `test/cli/init.test.ts` runs it as it is written here. */
import type { AnyHook } from "../../protocol/catalog.ts";
import { sampleEvent } from "../../protocol/sample.ts";

export const DEFAULT_HOOK = "message_sending";

export interface Wanted {
  readonly id: string;
  readonly hook: AnyHook;
  /** Of Creel. */
  readonly version: string;
}

/** By name, in the order in which one would read them. */
export function scaffold({ id, hook, version }: Wanted): Readonly<Record<string, string>> {
  const rewrites = hook.name === DEFAULT_HOOK;
  return {
    "creel.plugin.json": json({ id, name: id, version: "0.1.0", description: "What it is for, in a line.", main: "index.ts" }),
    "index.ts": source(id, hook.name, rewrites ? SIGNS : LOGS),
    "index.test.ts": test(hook, rewrites),
    "tsconfig.json": json(TSCONFIG),
    "package.json": json(manifest(id, version)),
    "README.md": readme(id, hook.name),
  };
}

/** An event that the plugin answers, on one line. */
export function sampleText(hook: AnyHook): string {
  return JSON.stringify(sampleEvent(hook, "hello"));
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

const SIGNS = {
  takes: "event",
  lines: [
    "// What may be returned, and what it means: docs/hooks.md of Creel. Nothing is no opinion.",
    "return { content: `${event.content} (via ${api.id})` };",
  ],
};
const LOGS = {
  takes: "",
  lines: ["// What the event has, and what may be returned: docs/hooks.md of Creel. Nothing is no opinion."],
};

function source(id: string, hook: string, { takes, lines }: typeof SIGNS): string {
  return `import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: ${JSON.stringify(id)},
  register(api) {
    api.on("${hook}", (${takes}) => {
      api.logger.info("${hook} was called");
${lines.map((line) => `      ${line}`).join("\n")}
    });
  },
});
`;
}

function test(hook: AnyHook, rewrites: boolean): string {
  const permission = hook.permission.includes("conversation") ? ", hooks: { allowConversationAccess: true }" : "";
  const check = rewrites ? `\n  assert.match(outcome.result?.content ?? "", /^hello \\(via .+\\)$/);` : "";
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "creel/testing";

test("answers ${hook.name}", async () => {
  await using harness = await createHarness({ plugin: import.meta.dirname${permission} });
  const outcome = await harness.run("${hook.name}", ${literal(sampleEvent(hook, "hello"))});
  assert.deepEqual(outcome.calls.map(({ status }) => status), ["ok"]);${check}
  assert.deepEqual(harness.logs, [{ level: "info", text: "${hook.name} was called" }]);
});
`;
}

/** As one would write it: names without quotes. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, field]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}: ${literal(field)}`,
  );
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** The world of the plugin. Its test runs in Node, and is not part of it. */
const TSCONFIG = {
  compilerOptions: {
    target: "esnext",
    lib: ["esnext"],
    types: ["creel/guest"],
    module: "preserve",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  },
  exclude: ["node_modules", "**/*.test.ts"],
};

function manifest(id: string, version: string): object {
  return {
    name: id.toLowerCase(),
    version: "0.1.0",
    private: true,
    type: "module",
    engines: { node: ">=24" },
    scripts: { test: "node --test", check: "creel check ." },
    devDependencies: { "@types/node": "^24.0.0", creel: `^${version}`, typescript: ">=5.8" },
  };
}

function readme(id: string, hook: string): string {
  return `# ${id}

What it is for, in a line. It listens to \`${hook}\`.

- \`npm test\` runs \`index.test.ts\`: the plugin in Creel's real sandbox.
- \`npm run check\` says what the sandbox does not have, where the plugin uses it.
- \`npx creel call ${hook} --plugin . --event …\` runs the hook once and prints what came of it.
`;
}
