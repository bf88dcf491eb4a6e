/**
 * Node's modules that a cell does not have: why, and what to use instead. Together with GUEST_MODULES of surface.ts
 * this covers all of Node. The bundler and the docs read it. The guest reads it only when a plugin imports one of
 * these.
 */

export interface Absent {
  /** Continues the sentence "is not available inside the sandbox: ". */
  readonly why: string;
  readonly instead: string;
  /**
   * A package that imports it cannot work without it. If a package needs it as soon as it is loaded, even lazily or by
   * `require`, the bundler refuses the plugin. For the others the author may have a fallback.
   */
  readonly isHopeless?: true;
}

const HTTP: Absent = { why: "a plugin has no sockets to speak HTTP over", instead: "use fetch to an origin that the operator grants" };
const PROCESSES: Absent = {
  why: "a plugin cannot start programs, processes or threads",
  instead: "let the gateway do it, or a server that fetch reaches",
  isHopeless: true,
};
const TERMINAL: Absent = {
  why: "a plugin has no terminal",
  instead: "use api.logger to say something, and a command of the gateway's to be asked",
};
const ENGINE: Absent = {
  why: "a plugin must not look into the engine it runs in",
  instead: "use host.inspect and the host's events from outside",
};
const SCRIPTS: Absent = { why: "a plugin is one script that was checked before it runs", instead: "bundle the code with the plugin" };

const SQLITE = "use api.kv, or SQLite as WebAssembly (sql.js) with the wasm permission";

export const ABSENT_MODULES: Readonly<Record<string, Absent>> = {
  dgram: {
    why: "a plugin has no datagrams",
    instead: "use net to a host and port that the operator grants",
    isHopeless: true,
  },
  http2: HTTP,
  child_process: PROCESSES,
  cluster: PROCESSES,
  worker_threads: PROCESSES,
  wasi: PROCESSES,
  sqlite: { why: "its native code would be fed by plugins, outside of every isolate", instead: SQLITE },
  vm: SCRIPTS,
  repl: TERMINAL,
  inspector: ENGINE,
  "inspector/promises": ENGINE,
  v8: ENGINE,
  trace_events: ENGINE,
  domain: { why: "Node has given it up", instead: "use try and catch" },
  punycode: { why: "Node has given it up", instead: "use URL, whose host is in ASCII" },
  sea: { why: "a plugin is not a program", instead: "read files of the plugin's folder with fs" },
  test: { why: "a plugin's tests run outside", instead: "use creel/testing" },
  "test/reporters": { why: "a plugin's tests run outside", instead: "use creel/testing" },
};

const IN_JAVASCRIPT = "use a package in plain JavaScript";

/** Packages that are machine code, or exist to find some → what to use instead. */
const NATIVE_PACKAGES: Readonly<Record<string, string>> = {
  "better-sqlite3": SQLITE,
  sqlite3: SQLITE,
  "sqlite-vec": SQLITE,
  bindings: IN_JAVASCRIPT,
  "node-gyp-build": IN_JAVASCRIPT,
  "node-gyp-build-optional-packages": IN_JAVASCRIPT,
  "node-pre-gyp": IN_JAVASCRIPT,
  "@mapbox/node-pre-gyp": IN_JAVASCRIPT,
  "prebuild-install": IN_JAVASCRIPT,
  "pkg-prebuilds": IN_JAVASCRIPT,
};

/** The name without `node:`. */
function plainName(name: string): string {
  return name.startsWith("node:") ? name.slice(5) : name;
}

/** The name of a package in an import: `@scope/name/path` → `@scope/name`. */
function packageOf(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

/** True for machine code, and for packages that exist to find some. */
export function isNative(name: string): boolean {
  return name.endsWith(".node") || Object.hasOwn(NATIVE_PACKAGES, packageOf(name));
}

/** Why a module is not there, without a subject. */
export function absentReason(name: string): string {
  const plain = plainName(name);
  if (Object.hasOwn(ABSENT_MODULES, plain)) return ABSENT_MODULES[plain]!.why;
  return isNative(name) ? "machine code cannot be kept inside the sandbox" : "the package is optional, and not installed";
}

/** One sentence about a module that a plugin imported and cannot have. `who` names the importer, if it is known. */
export function absentSentence(name: string, who = ""): string {
  const by = who === "" ? "" : ` (needed by ${who})`;
  const plain = plainName(name);
  if (Object.hasOwn(ABSENT_MODULES, plain)) {
    const { why, instead } = ABSENT_MODULES[plain]!;
    return `the module "${plain}" is not available inside the sandbox: ${why}; ${instead}${by}`;
  }
  if (isNative(name)) {
    const instead = NATIVE_PACKAGES[packageOf(name)] ?? IN_JAVASCRIPT;
    return `"${name}" is a native addon, and machine code cannot be kept inside the sandbox; ${instead}${by}`;
  }
  return `the package "${packageOf(name)}" was not found when the plugin was bundled; install it beside the plugin${by}`;
}
