/**
 * Every permission, the riskiest first: what it lets a plugin do, how bad that can be, what the host enforces, and the
 * test that shows it. Reviews sort by this table, and docs/reference/permissions.md is made from it. permission-key.ts
 * says how each is written.
 */

export type Risk = "high" | "medium" | "low";

export interface PermissionAbout {
  /** For the operator, in plain words. */
  readonly lets: string;
  readonly risk: Risk;
  /** Why it is that risky. */
  readonly why: string;
  /**
   * Keys as `--grant` takes them: the narrowest useful one, and the widest. If both are equal, there is only one size.
   */
  readonly narrow: string;
  readonly wide: string;
  /** An author can request it in `permissions` of creel.plugin.json. Otherwise the hooks imply it. */
  readonly isAsked?: true;
  /** What an author writes elsewhere in the manifest. */
  readonly askedAs?: string;
  /** What the host enforces for every plugin that has it. */
  readonly enforced: string;
  /** File and name of each test. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

export const PERMISSION_TABLE = {
  prompt: {
    lets: "change what models are told: listen to hooks that rewrite or extend prompts and system prompts",
    risk: "high",
    why: "a plugin that writes the prompt steers the agent, with every tool the agent has",
    narrow: "prompt",
    wide: "prompt",
    enforced:
      "Without it, such hooks are refused when the plugin registers, and of mixed hooks the fields that change prompts are dropped from its results. A plugin from a folder has it unless `allowPromptInjection` is false, as in OpenClaw; an installed one has it only if it was accepted.",
    tests: [
      ["test/contract/permissions.test.ts", "allowPromptInjection false refuses hooks that change prompts, and nothing else"],
      ["test/contract/installed.test.ts", "have the grants and permissions of the lock, and the config of creel.json"],
    ],
  },
  conversation: {
    lets: "read conversations: listen to hooks whose events carry what users and models say",
    risk: "high",
    why: "conversations hold whatever people paste into them; together with `fetch`, the plugin can send them away",
    narrow: "conversation",
    wide: "conversation",
    isAsked: true,
    enforced:
      "Without it, such hooks are refused when the plugin registers, and the diagnostic names the key to set. Only `true` allows it.",
    tests: [
      [
        "test/contract/permissions.test.ts",
        "a hook that reads conversations is refused without allowConversationAccess, and the key is named",
      ],
      ["test/contract/permissions.test.ts", "only true is a permission"],
    ],
  },
  install: {
    lets: "be asked about every later installation, and refuse it",
    risk: "high",
    why: "it decides which plugins come after it, better guards and updates included; it fails closed, so that broken it refuses them all",
    narrow: "install",
    wide: "install",
    isAsked: true,
    enforced:
      "A yes to the review does not include it: it is granted by name only. Without it `before_install` is refused when the plugin registers, the diagnostic names the key to set, and the plugin is not asked. Only `true` allows it.",
    tests: [
      ["test/contract/permissions.test.ts", "before_install is refused without allowInstallDecisions, and the key is named"],
      [
        "test/install/install-guards.test.ts",
        "a yes to the review does not make a guard: it is granted by name, and the diagnostic names the key",
      ],
    ],
  },
  connect: {
    lets: "open connections to one host and port, and send and receive anything there (`net`, `tls`, `WebSocket`)",
    risk: "high",
    why: "the host cannot see what is said on it: a database holds whatever its password opens, and anything else that the plugin sees can leave",
    narrow: "connect:tls://db.example.com:5432",
    wide: "connect:db.example.com:5432",
    isAsked: true,
    enforced:
      "The host opens the connection, never the plugin: host and port are compared exactly; names must lead to public addresses, and the host connects to the address that it checked; certificates are always verified, whatever the plugin says; 16 connections, 120 a minute, an hour each, within the plugin's share of the gateway's time; all end with the cell. No wildcards. [connections.md](../guides/connections.md)",
    tests: [
      ["test/contract/connect.test.ts", "what was not granted to %s is refused by name, and nothing is connected"],
      ["test/contract/connect.test.ts", "a connection ends with its cell: reloaded, disabled, without the grant"],
      ["test/host/services/connect/connect.test.ts", "a name that leads to a private address is refused, whatever it led to before"],
    ],
  },
  fetch: {
    lets: "send HTTP requests to one origin, and read the answers",
    risk: "high",
    why: "it lets out anything else that the plugin sees; the author's own server can be among the origins",
    narrow: "fetch:https://api.example.com/v1#GET",
    wide: "fetch:https://api.example.com",
    isAsked: true,
    enforced:
      "The host sends, never the plugin: scheme, host, port, method and path are compared after parsing, at each redirect again; names must lead to public addresses; 300 requests a minute, within the plugin's share of the gateway's time; secrets are put in by the host and taken out of answers. No wildcards. [fetch.md](../guides/fetch.md)",
    tests: [
      ["test/contract/fetch.test.ts", "what was not granted to %s is refused by name, and nothing is sent"],
      ["test/contract/fetch.test.ts", "takes the methods of the grant, and no others"],
      ["test/contract/fetch.test.ts", "a redirect out of the granted path is not followed"],
    ],
  },
  "session:patch": {
    lets: "change entries of the gateway's sessions (`api.session.patch`)",
    risk: "high",
    why: "a session's entry may say which model answers, with which rights; what can be patched is the gateway's to say",
    narrow: "session:patch",
    wide: "session:patch",
    isAsked: true,
    enforced: "The gateway's own `patchSession` applies it, and may refuse; loops of patches end at a depth and at a rate, by name.",
    tests: [
      ["test/contract/causes.test.ts", "what was not granted is refused by name"],
      ["test/contract/recursion.test.ts", "a loop through detached promises stops at the depth limit"],
    ],
  },
  env: {
    lets: "see one variable of the gateway's environment in `process.env`",
    risk: "medium",
    why: "as bad as what is in it: a region is nothing, a key is that key. For keys use `secrets`, which plugins never see",
    narrow: "env:WEATHER_REGION",
    wide: "env:WEATHER_REGION",
    isAsked: true,
    enforced: "By exact name, copied when the cell is opened. A variable that holds a secret of `secrets` is never shown.",
    tests: [
      [
        "test/contract/env.test.ts",
        "has what was granted by its exact name, what was set for the plugin, and what the plugin itself put there",
      ],
      ["test/contract/env.test.ts", "a name is a name: no pattern, and nothing that is none"],
    ],
  },
  "session:get": {
    lets: "read entries of the gateway's sessions (`api.session.get`)",
    risk: "medium",
    why: "entries name channels, users and models; what is in one is the gateway's to say",
    narrow: "session:get",
    wide: "session:get",
    isAsked: true,
    enforced: "Asked of the gateway's own `getSession`, one key at a time; what it gives is all there is.",
    tests: [["test/contract/causes.test.ts", "what was not granted is refused by name"]],
  },
  wasm: {
    lets: "run WebAssembly",
    risk: "medium",
    why: "the heap limit does not count its memory, and its compiler adds to the attack surface of V8",
    narrow: "wasm",
    wide: "wasm",
    isAsked: true,
    enforced:
      "Without it the cell has no `WebAssembly`. With it there is still no shared memory, and the whole sandbox process is still bounded by `sandbox.memoryMb`.",
    tests: [
      ["test/escape/clock.test.ts", "without a grant time passes in whole milliseconds, and there is no WebAssembly"],
      ["test/escape/wasm.test.ts", "gives no shared memory: %s"],
    ],
  },
  clock: {
    lets: "measure time exactly",
    risk: "medium",
    why: "with an exact clock a plugin can measure what its neighbours in the process do, and guess at what they know",
    narrow: "clock",
    wide: "clock",
    isAsked: true,
    enforced: "Without it all clocks of the cell go in whole milliseconds.",
    tests: [["test/escape/clock.test.ts", "without a grant time passes in whole milliseconds, and there is no WebAssembly"]],
  },
  required: {
    lets: "stop what its hooks decide about whenever it fails or does not load: all its hooks fail closed",
    risk: "medium",
    why: "a plugin that breaks stops the gateway's work, and one that lets everything pass reduces no risk",
    narrow: "required",
    wide: "required",
    askedAs: '"required": true',
    enforced:
      "Without it, a failure means what the hook says. `plugins.entries.<id>.required` counts before what was accepted; hooks that only observe block nothing. [embedding.md](../guides/embedding.md#required-plugins)",
    tests: [
      ["test/contract/required.test.ts", "is required as it was accepted when it was installed, and was tampered with since"],
      ["test/contract/required.test.ts", "is not one because its manifest says so: that is a remark until the operator accepts it"],
    ],
  },
  schedule: {
    lets: "work at later times, by itself, also after a restart",
    risk: "low",
    why: "it may do at night what it may do by day, and nothing more",
    narrow: "schedule",
    wide: "schedule",
    isAsked: true,
    enforced:
      "A job is a call, with a call's budgets; at most 1000 wait, eight are done at once; loops of jobs and patches end at a depth. [storage.md](../guides/storage.md)",
    tests: [
      ["test/contract/schedule.test.ts", "what cannot be scheduled is refused with a code, and schedules nothing"],
      ["test/contract/schedule.test.ts", "a job has the budgets of a call; one that fails has had its turn"],
    ],
  },
  fs: {
    lets: "keep its own files behind Node's `fs`",
    risk: "low",
    why: "they are not files of the machine: only the plugin sees them; they take space",
    narrow: "fs:65536",
    wide: "fs",
    isAsked: true,
    enforced:
      "Paths are names in a database, never paths of the machine; the host counts the quota, 4 MiB unless said otherwise, 8 MiB at most. [files.md](../guides/files.md)",
    tests: [
      ["test/contract/fs.test.ts", "no spelling of a path leads to a file of the machine's"],
      ["test/contract/fs.test.ts", "a quota is there from the first byte too many, and what is removed is free again"],
    ],
  },
  kv: {
    lets: "keep its own data across restarts (`api.kv`)",
    risk: "low",
    why: "only the plugin sees it; it takes space",
    narrow: "kv:65536",
    wide: "kv",
    isAsked: true,
    enforced: "The plugin has its own database; the host enforces the quota, 10 MiB by default. [storage.md](../guides/storage.md)",
    tests: [
      ["test/contract/kv.test.ts", "a plugin has no way to another's entries, and without a grant none at all"],
      ["test/contract/kv.test.ts", "past its quota a store takes nothing more, and the operator sees how full it is"],
    ],
  },
} as const satisfies Record<string, PermissionAbout>;

export type PermissionName = keyof typeof PERMISSION_TABLE;
export const PERMISSION_NAMES = Object.keys(PERMISSION_TABLE) as PermissionName[];

/** The permission of a key such as `fetch:https://api.example.com`. Undefined: no permission has that key. */
export function permissionOf(key: string): PermissionName | undefined {
  return PERMISSION_NAMES.find((name) => key === name || key.startsWith(`${name}:`));
}

/** 0 is the riskiest. */
export function riskRank(key: string): number {
  const name = permissionOf(key);
  return name === undefined ? PERMISSION_NAMES.length : PERMISSION_NAMES.indexOf(name);
}
