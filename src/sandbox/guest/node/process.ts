/**
 * Inside the isolate: `process`, as far as it makes sense for a plugin in a cell. Other members do not exist, or throw
 * when they are called.
 */
import { moduleNamed } from "../boot/library.ts";
import { postLog } from "../turn/mailbox.ts";
import { now } from "../web/clock.ts";
import { world } from "../boot/world.ts";

import { HOME } from "../../../protocol/messages/files.ts";
import { place } from "./path.ts";
import { checkString, invalidArgType, nodeError } from "./errors.ts";
import { EventEmitter } from "./events.ts";
import path from "./path.ts";
import { nextTick } from "./next-tick.ts";

/** The release of Node whose behaviour the sandbox follows. */
const VERSION = "24.0.0";

/** What programs expect in any environment, as `os` has it. */
const ENV = { HOME, USER: "plugin", LOGNAME: "plugin", TMPDIR: "/tmp" };

function hrtime(since?: unknown): [seconds: number, nanos: number] {
  const ns = hrtimeBigint();
  const time: [number, number] = [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
  if (since === undefined) return time;
  if (!Array.isArray(since)) throw invalidArgType("time", "an instance of Array", since);
  const [seconds, nanos] = since as [number, number];
  const [s, n] = [time[0] - seconds, time[1] - nanos];
  return n < 0 ? [s - 1, n + 1e9] : [s, n];
}

function hrtimeBigint(): bigint {
  return BigInt(Math.round(now() * 1e6));
}

hrtime.bigint = hrtimeBigint;

function cannot(what: string, why: string): () => never {
  return () => {
    throw nodeError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `${what} is not available inside the sandbox: ${why}`);
  };
}

const endProcess = cannot("process.exit", "a plugin cannot end what it runs in; return from the handler instead");

/** Throws. A command line (sdk/cli.ts) ends with the code. */
function exit(code?: unknown): never {
  try {
    return endProcess();
  } catch (error) {
    throw Object.assign(error as Error, { exitCode: Number(code ?? process.exitCode ?? 0) });
  }
}

/** A stream that programs can write to. Each write is a log line. */
function output(fd: number, level: number): object {
  const stream = {
    fd,
    isTTY: false,
    writable: true,
    columns: undefined,
    write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
      const text = typeof chunk === "string" ? chunk : String(chunk);
      if (text !== "") postLog(level, text.endsWith("\n") ? text.slice(0, -1) : text);
      const callback = typeof encoding === "function" ? encoding : done;
      if (typeof callback === "function") nextTick(callback);
      return true;
    },
    end: (chunk?: unknown): void => void (chunk === undefined || stream.write(chunk)),
    hasColors: () => false,
    getColorDepth: () => 1,
  };
  for (const name of ["on", "once", "off", "addListener", "removeListener", "removeAllListeners", "emit"])
    Object.defineProperty(stream, name, { value: () => (name === "emit" ? false : stream), configurable: true, writable: true });
  return stream;
}

let hasSaidInert = false;

function listening(method: string): unknown {
  const original = (EventEmitter.prototype as Record<string, (...args: unknown[]) => unknown>)[method]!;
  return function (this: unknown, ...args: unknown[]): unknown {
    if (!hasSaidInert)
      postLog(2, `process.${method}(${JSON.stringify(String(args[0]))}) has no effect: a plugin's cell has no such events`);
    hasSaidInert = true;
    return Reflect.apply(original, this, args);
  };
}

function emitWarning(warning: unknown, typeOrOptions?: unknown, code?: unknown): void {
  const options = (typeof typeOrOptions === "object" && typeOrOptions !== null ? typeOrOptions : { type: typeOrOptions, code }) as {
    type?: unknown;
    code?: string;
    detail?: string;
  };
  const isError = warning instanceof Error;
  if (!isError && typeof warning !== "string") throw invalidArgType("warning", "of type string or an instance of Error", warning);
  const type = isError ? warning.name : typeof options.type === "string" ? options.type : "Warning";
  const label = options.code === undefined ? type : `[${options.code}] ${type}`;
  postLog(2, `${label}: ${isError ? warning.message : warning}${options.detail === undefined ? "" : `\n${options.detail}`}`);
}

function chdir(directory: unknown): void {
  checkString(directory, "directory");
  const target = path.resolve(directory);
  const isInside = [HOME, "/plugin", "/tmp"].some((root) => target === root || target.startsWith(`${root}/`));
  if (!isInside) throw nodeError(Error, "ENOENT", `ENOENT: no such file or directory, chdir ${place.cwd} -> '${directory}'`);
  place.cwd = target;
}

const process = Object.create(EventEmitter.prototype, {
  [Symbol.toStringTag]: { value: "process", configurable: true },
  constructor: { value: EventEmitter, configurable: true, writable: true, enumerable: false },
}) as Record<string, unknown>;
EventEmitter.init.call(process as never);

Object.assign(process, {
  version: `v${VERSION}`,
  versions: { node: VERSION },
  arch: world.arch,
  platform: world.platform,
  release: { name: "node" },
  title: "node",
  argv: ["/usr/bin/node", "/plugin/index.js"],
  argv0: "node",
  execArgv: [],
  execPath: "/usr/bin/node",
  pid: 1,
  ppid: 0,
  exitCode: undefined,
  config: { target_defaults: {}, variables: {} },
  features: { inspector: false, debug: false, uv: false, ipv6: false, tls: false, typescript: false, require_module: false },
  env: { ...ENV, ...world.env },
  stdout: output(1, 1),
  stderr: output(2, 2),
  cwd: () => place.cwd,
  chdir,
  umask: () => 0o22,
  uptime: () => now() / 1000,
  hrtime,
  nextTick,
  emitWarning,
  getuid: () => 1000,
  geteuid: () => 1000,
  getgid: () => 1000,
  getegid: () => 1000,
  getBuiltinModule: (name: unknown): unknown => (checkString(name, "id"), moduleNamed(name)?.exports),
  exit,
  abort: cannot("process.abort", "a plugin cannot end what it runs in"),
  kill: cannot("process.kill", "there are no other processes"),
  on: listening("on"),
  addListener: listening("addListener"),
  once: listening("once"),
  prependListener: listening("prependListener"),
  prependOnceListener: listening("prependOnceListener"),
});

export { process };
export default process;
