/**
 * Every permission there is, the riskiest first: what it lets a plugin do, how bad that can be, what the host holds it to, and the test that shows it.
 * The review sorts by this table and docs/permissions.md is made of it. How one is asked for is in permissions.ts, how it is given in config.ts.
 */

export type Risk = "high" | "medium" | "low";

export interface PermissionAbout {
  /** For the operator, in plain words. */
  readonly lets: string;
  readonly risk: Risk;
  /** Why that much. */
  readonly why: string;
  /** Keys as `--grant` takes them: as little as is useful, and all there is. The same key: there is only one size. */
  readonly narrow: string;
  readonly wide: string;
  /** What an author writes into `permissions` of the creel.plugin.json. Undefined: it cannot be asked for, the hooks ask. */
  readonly asked?: Readonly<Record<string, unknown>>;
  /** What holds whoever has it. */
  readonly enforced: string;
  /** File and name of each test. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

const REASON = "why the plugin needs it, for the operator to read";

export const PERMISSION_TABLE = {
  prompt: {
    lets: "change what models are told: listen to hooks that rewrite or extend prompts and system prompts",
    risk: "high",
    why: "whoever writes the prompt steers the agent, with every tool the agent has",
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
    asked: { conversation: { reason: REASON } },
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
  fetch: {
    lets: "send HTTP requests to one origin, and read the answers",
    risk: "high",
    why: "it is the way out for whatever else the plugin sees; a server of the author's own can be among the origins",
    narrow: "fetch:https://api.example.com/v1#GET",
    wide: "fetch:https://api.example.com",
    asked: { fetch: [{ origin: "https://api.example.com", methods: ["GET"], pathPrefix: "/v1", reason: REASON }] },
    enforced:
      "The host sends, never the plugin: scheme, host, port, method and path are compared after parsing, at each redirect again; names must lead to public addresses; 300 requests a minute; secrets are put in by the host and taken out of answers. No wildcards. [fetch.md](fetch.md)",
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
    asked: { session: [{ access: "patch", reason: REASON }] },
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
    asked: { env: [{ name: "WEATHER_REGION", reason: REASON }] },
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
    asked: { session: [{ access: "get", reason: REASON }] },
    enforced: "Asked of the gateway's own `getSession`, one key at a time; what it gives is all there is.",
    tests: [["test/contract/causes.test.ts", "what was not granted is refused by name"]],
  },
  wasm: {
    lets: "run WebAssembly",
    risk: "medium",
    why: "its memory is not counted by the heap limit, and its compiler is more of V8 to find mistakes in",
    narrow: "wasm",
    wide: "wasm",
    asked: { wasm: { reason: REASON } },
    enforced: "Without it the cell has no `WebAssembly`. With it, the whole sandbox process is still bounded by `sandbox.memoryMb`.",
    tests: [["test/escape/clock.test.ts", "without a grant time passes in whole milliseconds, and there is no WebAssembly"]],
  },
  clock: {
    lets: "measure time exactly",
    risk: "medium",
    why: "with an exact clock a plugin can measure what its neighbours in the process do, and guess at what they know",
    narrow: "clock",
    wide: "clock",
    asked: { clock: { reason: REASON } },
    enforced: "Without it all clocks of the cell go in whole milliseconds.",
    tests: [["test/escape/clock.test.ts", "without a grant time passes in whole milliseconds, and there is no WebAssembly"]],
  },
  schedule: {
    lets: "work at later times, by itself, also after a restart",
    risk: "low",
    why: "it may do at night what it may do by day, and nothing more",
    narrow: "schedule",
    wide: "schedule",
    asked: { schedule: { reason: REASON } },
    enforced:
      "A job is a call, with a call's budgets; at most 1000 wait, eight are done at once; loops of jobs and patches end at a depth. [storage.md](storage.md)",
    tests: [
      ["test/contract/schedule.test.ts", "what cannot be scheduled is refused with a code, and schedules nothing"],
      ["test/contract/schedule.test.ts", "a job has the budgets of a call; one that fails has had its turn"],
    ],
  },
  fs: {
    lets: "keep files of its own behind Node's `fs`",
    risk: "low",
    why: "they are not files of the machine: nobody but the plugin sees them; they take space",
    narrow: "fs:65536",
    wide: "fs",
    asked: { fs: { maxBytes: 65_536, reason: REASON } },
    enforced:
      "Paths are names in a database, never paths of the machine; the host counts the quota, 4 MiB unless said otherwise, 8 MiB at most. [files.md](files.md)",
    tests: [
      ["test/contract/fs.test.ts", "no spelling of a path leads to a file of the machine's"],
      ["test/contract/fs.test.ts", "a quota is there from the first byte too many, and what is removed is free again"],
    ],
  },
  kv: {
    lets: "keep data of its own across restarts (`api.kv`)",
    risk: "low",
    why: "nobody but the plugin sees it; it takes space",
    narrow: "kv:65536",
    wide: "kv",
    asked: { kv: { maxBytes: 65_536, reason: REASON } },
    enforced: "A database of its own; the host counts the quota, 10 MiB unless said otherwise. [storage.md](storage.md)",
    tests: [
      ["test/contract/kv.test.ts", "a plugin has no way to another's entries, and without a grant none at all"],
      ["test/contract/kv.test.ts", "past its quota a store takes nothing more, and the operator sees how full it is"],
    ],
  },
} as const satisfies Record<string, PermissionAbout>;

export type PermissionName = keyof typeof PERMISSION_TABLE;
export const PERMISSION_NAMES = Object.keys(PERMISSION_TABLE) as PermissionName[];

/** Of a key such as `fetch:https://api.example.com`; undefined: it is the key of none. */
export function permissionOf(key: string): PermissionName | undefined {
  return PERMISSION_NAMES.find((name) => key === name || key.startsWith(`${name}:`));
}

/** 0 is the riskiest. */
export function riskRank(key: string): number {
  const name = permissionOf(key);
  return name === undefined ? PERMISSION_NAMES.length : PERMISSION_NAMES.indexOf(name);
}
