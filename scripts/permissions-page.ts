/** docs/reference/permissions.md: what a plugin may be granted, from the table of permissions. */
import { acceptedBy, grantOf, wordsOf } from "../src/install/review/permission-keys.ts";
import { CATALOG } from "../src/protocol/catalog.ts";
import type { AnyHook } from "../src/protocol/catalog.ts";
import { PERMISSION_NAMES, PERMISSION_TABLE } from "../src/protocol/config/permission-table.ts";
import type { PermissionAbout, PermissionName } from "../src/protocol/config/permission-table.ts";
import { anchor, code, list, MADE, page, table } from "./markdown.ts";

const KEYS = { conversation: "allowConversationAccess", prompt: "allowPromptInjection", install: "allowInstallDecisions" } as const;

const isOfHooks = (name: PermissionName): name is keyof typeof KEYS => Object.hasOwn(KEYS, name);

/** What stands in a creel.json for a key. */
function configOf(name: PermissionName, key: string): string {
  if (name === "required") return '"required": true';
  if (isOfHooks(name)) return `"hooks": { "${KEYS[name]}": true }`;
  return `"grants": ${JSON.stringify(acceptedBy([key], []).grants)
    .replaceAll(/([:,{])(?=["{[])/g, "$1 ")
    .replaceAll("}", " }")}`;
}

function hooksOf(name: PermissionName): string[] {
  if (!isOfHooks(name)) return [];
  const hooks = Object.values(CATALOG).filter(
    (hook: AnyHook) => hook.permission.includes(name) || (name === "prompt" && hook.promptFields),
  );
  return [`- **Hooks that need it** ${list(hooks.map((hook) => hook.name))}`];
}

function section(name: PermissionName): string {
  const { lets, risk, why, narrow, wide, asked, askedAs, enforced, tests }: PermissionAbout = PERMISSION_TABLE[name];
  const keys = narrow === wide ? [narrow] : [narrow, wide];
  const sizes = keys.length === 1 ? [""] : ["narrow: ", "wide: "];
  const each = (text: (key: string) => string) => keys.map((key, at) => `${sizes[at]}${text(key)}`).join("; ");
  return [
    `## ${code(name)}`,
    [
      `- **Lets a plugin** ${lets}.`,
      `- **Risk** ${risk}: ${why}.`,
      `- **The review says** ${each((key) => `“${wordsOf(grantOf(key)!)}”`)}`,
      `- **Granted by key** (\`--grant\`, \`creel permissions grant\`) ${each(code)}`,
      `- **In creel.json**, under \`plugins.entries.<id>\`: ${each((key) => code(configOf(name, key)))}`,
      askedAs !== undefined
        ? `- **Asked for** in \`creel.plugin.json\`: ${code(askedAs)}`
        : asked
          ? `- **Asked for** in \`creel.plugin.json\`: ${code(`"permissions": ${JSON.stringify(asked)}`)}`
          : "- **Asked for** by the hooks themselves: a plugin that registers one is shown as needing it.",
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
    "What a plugin may do beyond answering its hooks, the riskiest first. Nothing is granted that nobody granted. A plugin asks in its manifest, with a reason; `creel install` shows it; what you accept is in the lock, " +
      "and `creel permissions` changes it later ([installing.md](../guides/installing.md)). A plugin that is not installed but named in the `creel.json` gets what stands there ([config.md](config.md)).",
    "Two together are more than their sum: whoever may read conversations **and** send requests can send conversations away. Grant as narrow as it works; `creel permissions suggest <id>` proposes it from what was really used.",
    table(
      ["permission", "risk", "lets a plugin"],
      PERMISSION_NAMES.map((name) => [`[${code(name)}](#${anchor(name)})`, PERMISSION_TABLE[name].risk, PERMISSION_TABLE[name].lets]),
    ),
    ...PERMISSION_NAMES.map(section),
  );
}
