/** docs/reference/permissions.md: what a plugin may be granted, from the table of permissions. */
import { grantOf } from "../src/protocol/config/permission-key.ts";
import { wordsOf } from "../src/install/review/permission-keys.ts";
import { CATALOG } from "../src/protocol/catalog.ts";
import type { AnyHook } from "../src/protocol/catalog.ts";
import { PERMISSION_NAMES, PERMISSION_TABLE } from "../src/protocol/config/permission-table.ts";
import type { PermissionAbout, PermissionName } from "../src/protocol/config/permission-table.ts";
import { anchor, code, list, MADE, page, table } from "./markdown.ts";

const OF_HOOKS = ["conversation", "prompt", "install"] as const;

const isOfHooks = (name: PermissionName): name is (typeof OF_HOOKS)[number] => OF_HOOKS.some((one) => one === name);

function hooksOf(name: PermissionName): string[] {
  if (!isOfHooks(name)) return [];
  const hooks = Object.values(CATALOG).filter(
    (hook: AnyHook) => hook.permission.includes(name) || (name === "prompt" && hook.promptFields),
  );
  return [`- **Hooks that need it** ${list(hooks.map((hook) => hook.name))}`];
}

function section(name: PermissionName): string {
  const { lets, risk, why, narrow, wide, isAsked, askedAs, enforced, tests }: PermissionAbout = PERMISSION_TABLE[name];
  const keys = narrow === wide ? [narrow] : [narrow, wide];
  const sizes = keys.length === 1 ? [""] : ["narrow: ", "wide: "];
  const each = (text: (key: string) => string) => keys.map((key, at) => `${sizes[at]}${text(key)}`).join("; ");
  return [
    `## ${code(name)}`,
    [
      `- **Lets a plugin** ${lets}.`,
      `- **Risk** ${risk}: ${why}.`,
      `- **The review says** ${each((key) => `“${wordsOf(grantOf(key)!)}”`)}`,
      `- **Written** ${each(code)}`,
      askedAs !== undefined
        ? `- **Requested** in \`creel.plugin.json\`: ${code(askedAs)}`
        : isAsked
          ? `- **Requested** in \`creel.plugin.json\`: ${code(`"permissions": { ${JSON.stringify(narrow)}: "why the plugin needs it" }`)}`
          : "- **Requested** by the hooks themselves: a plugin that registers one is shown as needing it.",
      ...hooksOf(name),
      `- **What holds** ${enforced}`,
      `- **Tests** ${tests.map(([file, test]) => `${code(file)} “${test}”`).join("; ")}`,
    ].join("\n"),
  ].join("\n\n");
}

export function permissionsPage(): string {
  return page(
    MADE,
    "# Permissions",
    "What a plugin may do beyond answering its hooks, the riskiest first. A plugin has only the permissions that an operator granted. A plugin asks in its manifest, with a reason; `creel install` shows it; what you accept is in the lock, " +
      "and `creel permissions` changes it later ([installing.md](../guides/installing.md)). A plugin that is not installed but named in the `creel.json` gets what stands there ([config.md](config.md)).",
    "Two together are more than their sum: a plugin that may read conversations **and** send requests can send conversations away. Grant as narrow as it works; `creel permissions suggest <id>` proposes it from what was really used.",
    table(
      ["permission", "risk", "lets a plugin"],
      PERMISSION_NAMES.map((name) => [`[${code(name)}](#${anchor(name)})`, PERMISSION_TABLE[name].risk, PERMISSION_TABLE[name].lets]),
    ),
    "## How a permission is written",
    "The same everywhere, as a *permission key*: a name, or a name with what it is limited to.",
    table(
      ["who", "where", "example"],
      [
        [
          "an author requests it, with a reason",
          "`creel.plugin.json`",
          code('"permissions": { "fetch:https://api.example.com/v1#GET": "forecasts", "kv": "remembers the town" }'),
        ],
        [
          "an operator grants it to an installed plugin",
          "a shell",
          code("creel permissions grant weather kv 'fetch:https://api.example.com/v1#GET'"),
        ],
        [
          "an operator grants it in the configuration",
          "`creel.json`, under `plugins.entries.<id>`",
          code('"permissions": ["kv", "fetch:https://api.example.com/v1#GET"]'),
        ],
        ["a gateway gives it to a plugin that it names", "`openHost`", code('plugins: [{ path: "./weather", permissions: ["kv"] }]')],
        ["a test gives it", "`createHarness`", code('createHarness({ plugin: import.meta.dirname, permissions: ["kv"] })')],
        ["an author tries it", "a shell", code("creel call message_sending --plugin ./weather --grant kv")],
      ],
    ),
    "`fetch:` takes an origin, a path below which requests may go, and methods after `#`, separated by commas. `kv` and `fs` take a number of bytes: `kv:65536`. " +
      "Only the canonical spelling is accepted, so that what you read is what the host compares. Where an operator or a gateway writes a `fetch:`, it may name a [secret](../guides/fetch.md) that the host sends along: `fetch:https://api.example.com with WEATHER`.",
    'Older forms are still read: `grants` by kind in `creel.json`, `openHost` and tests (`{ "kv": true }`), and permissions by kind in a manifest (`{ "kv": { "reason": "…" } }`). `creel doctor` and `creel check` say how to write them now. ' +
      "OpenClaw's own keys, such as `hooks.allowConversationAccess`, mean the same as `conversation` and stay, so that a block of an `openclaw.json` can be pasted.",
    ...PERMISSION_NAMES.map(section),
  );
}
