/** The files of a new plugin. `test/cli/verbs/author/init.test.ts` runs its test as written here. */
import type { AnyHook } from "../../protocol/catalog.ts";
import { sampleEvent } from "../../protocol/rules/samples.ts";
import { contextFor } from "../../host/run/absent-context.ts";

export const DEFAULT_HOOK = "before_tool_call";

export interface ScaffoldOptions {
  readonly id: string;
  readonly hook: AnyHook;
  readonly creel: {
    /** The dependency on this Creel, as in a package.json. */
    readonly dependency: string;
    /** It is run from its sources. */
    readonly isCheckout: boolean;
  };
}

/** By name, in the order in which one would read them. */
export function scaffold({ id, hook, creel }: ScaffoldOptions): Readonly<Record<string, string>> {
  const shape = SHAPES[hook.name] ?? HEARS;
  return {
    "creel.plugin.json": json({
      $schema: "./node_modules/creel/docs/reference/creel.plugin.schema.json",
      id,
      name: id,
      description: "One line about what it does.",
      main: "index.ts",
      hooks: [hook.name],
    }),
    "index.ts": source(id, hook.name, shape),
    "index.test.ts": test(hook, shape),
    "tsconfig.json": json(TSCONFIG),
    "package.json": json(manifest(id, creel)),
    "README.md": readme(id, hook.name),
    ".gitignore": GITIGNORE,
  };
}

/** `creel pack` writes the archive beside the plugin. */
export const GITIGNORE = "node_modules/\n*.tgz\n";

/** An event that the plugin answers, on one line. */
export function eventText(hook: AnyHook): string {
  return JSON.stringify(eventOf(hook, SHAPES[hook.name] ?? HEARS));
}

export const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** What a first plugin does on a hook, and what its test expects. */
interface Shape {
  readonly title: string;
  readonly takes: string;
  readonly lines: readonly string[];
  /** Undefined: the smallest that the hook takes. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** About `outcome`. */
  readonly expects: readonly string[];
}

const exec = (line: string) => ({ toolName: "exec", params: { command: line } });
const ABOUT = "// What the event has, and what may be returned: node_modules/creel/docs/reference/hooks.md. Nothing is no opinion.";

const SHAPES: Readonly<Record<string, Shape>> = {
  before_tool_call: {
    title: "stops rm -rf, and nothing else",
    takes: "event",
    lines: [
      ABOUT,
      'const isForbidden = String(event.params.command).includes("rm -rf");',
      'return isForbidden ? { block: true, blockReason: "rm -rf is not for agents" } : undefined;',
    ],
    event: exec("rm -rf build"),
    expects: [
      `assert.equal(outcome.decision, "block");`,
      `assert.equal(outcome.reason, "rm -rf is not for agents");`,
      `const other = await harness.run("before_tool_call", ${literal(exec("ls build"))});`,
      `assert.equal(other.decision, "pass");`,
    ],
  },
  message_sending: {
    title: "signs what is sent",
    takes: "event",
    lines: [ABOUT, "return { content: `${event.content} (via ${api.id})` };"],
    expects: [`assert.match(outcome.result?.content ?? "", /^hello \\(via .+\\)$/);`],
  },
};
const HEARS: Shape = { title: "is called", takes: "", lines: [ABOUT], expects: [] };

function eventOf(hook: AnyHook, { event }: Shape): Readonly<Record<string, unknown>> {
  return event ?? sampleEvent(hook, "hello");
}

function source(id: string, hook: string, { takes, lines }: Shape): string {
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

function test(hook: AnyHook, shape: Shape): string {
  const event = eventOf(hook, shape);
  const ctx = contextFor(hook, event, "hello");
  const keys = [
    ...(hook.permission.includes("conversation") ? ["conversation"] : []),
    ...(hook.permission.includes("install") ? ["install"] : []),
  ];
  const permission = keys.length === 0 ? "" : `, permissions: ${JSON.stringify(keys)}`;
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "creel/testing";

test("${shape.title}", async () => {
  // npm run coverage counts the lines of the plugin, too.
  const coverage = process.env.NODE_V8_COVERAGE !== undefined;
  await using harness = await createHarness({ plugin: import.meta.dirname, coverage${permission} });
  const outcome = await harness.run("${hook.name}", ${literal(event)}${ctx === undefined ? "" : `, ${literal(ctx)}`});
  assert.deepEqual(outcome.calls.map(({ status }) => status), ["ok"]);
  assert.deepEqual(harness.logs, [{ level: "info", text: "${hook.name} was called" }]);
${shape.expects.map((line) => `  ${line}\n`).join("")}});
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
export const TSCONFIG = {
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

export function manifest(id: string, { dependency, isCheckout }: ScaffoldOptions["creel"]): object {
  return {
    name: id.toLowerCase(),
    version: "0.1.0",
    private: true,
    type: "module",
    engines: { node: ">=24" },
    scripts: {
      test: `node ${isCheckout ? "-C source " : ""}--test`,
      // Without Creel's own files, where it is a link to a checkout.
      coverage: `node ${isCheckout ? "-C source " : ""}--test --experimental-test-coverage --test-coverage-include="${isCheckout ? "" : "**/"}*.ts" --test-coverage-exclude="**/*.test.ts"`,
      check: "creel check .",
      dev: "creel dev .",
    },
    devDependencies: { "@types/node": "^24.0.0", creel: dependency, typescript: ">=5.8" },
  };
}

export function readme(id: string, hook: string, what = `It listens to \`${hook}\`.`): string {
  return `# ${id}

One line about what it does. ${what}

- \`npm test\` runs \`index.test.ts\`: the plugin in Creel's real sandbox. \`npm run coverage\` also shows which of its lines were run.
- \`creel dev .\` runs it again with every change; with \`--inspect\`, a debugger can attach.
- \`creel check .\` reports what the plugin uses and the sandbox lacks.
- \`creel call ${hook} --plugin . --event …\` runs the hook once and prints the outcome.
- \`creel pack .\` makes one file to publish.
- \`creel install .\` shows what it requests, and installs it.
`;
}
