/**
 * Trusted side: the option names of `openHost`. A misspelt `plugins` would open a host without guards, and a misspelt `requestApproval` one that
 * asks no user, so an unknown name is refused, with the nearest known one.
 */
import { suggest } from "../text/did-you-mean.ts";
import { CreelError } from "../protocol/errors.ts";
import { OFFERS } from "../protocol/serve.ts";

const LOCAL = ["isolation", "lanes", "config", "plugins", "hooks", "rewrites", "allowFailed", "strict", "lockKey", "inspect"] as const;
const SHARED = ["connect", "fleet", "gateway", "logger", "telemetry"] as const;
const SPEC = ["id", "path", "source", "config", "env", "hooks", "permissions", "grants", "limits", "required"] as const;

type OptionName = (typeof LOCAL)[number] | (typeof SHARED)[number];
/** How each option is written. */
const EXAMPLES: Readonly<Record<OptionName, string>> = {
  isolation: 'isolation: "process"',
  lanes: "lanes: 2",
  config: 'config: "./creel.json"',
  plugins: 'plugins: [{ path: "./guard" }]',
  hooks: "hooks: { ping: defineHook({ … }) }",
  rewrites: 'rewrites: "chained"',
  allowFailed: "allowFailed: true",
  strict: "strict: true",
  lockKey: "lockKey: process.env.LOCK_KEY",
  inspect: 'inspect: { plugin: "guard" }',
  connect: 'connect: "./run/creel.sock"',
  fleet: 'fleet: { name: "gate-1", servers: ["tls://nats-1:4222"], credentials: "./gate-1.nk" }',
  telemetry: "telemetry: true",
  gateway: 'gateway: { requestApproval: async () => "deny" }',
  logger: "logger: pino()",
};

/** An option whose value is wrong, with an example of a right one. `field` may be a path below the option. */
export function wrongOption(field: string, detail: string): CreelError {
  const [option = ""] = field.split(".");
  const example = Object.hasOwn(EXAMPLES, option) ? `; write, for example, ${EXAMPLES[option as OptionName]}` : "";
  return new CreelError("ERR_HOST_OPTIONS", { field, detail: `${detail}${example}` });
}

/** Throws ERR_HOST_OPTIONS for the first name that is unknown, or not allowed here, and for values that have no schema. */
export function checkNames(options: object): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw wrongOption("options", "they must be an object");
  refuseUnknown(options, [...LOCAL, ...SHARED], "");
  const { connect, fleet, gateway, plugins, hooks, logger } = options as Partial<Record<OptionName, unknown>>;
  if (connect !== undefined && typeof connect !== "string") throw wrongOption("connect", "it must be the path of a socket");
  if (hooks !== undefined && (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)))
    throw wrongOption("hooks", "it must be an object with a hook for each name");
  for (const [name, hook] of Object.entries(hooks ?? {}))
    if (typeof hook !== "object" || hook === null || !("kind" in hook))
      throw wrongOption(`hooks.${name}`, "it must be made with defineHook");
  if (logger !== undefined) checkLogger(logger);
  if (connect !== undefined && fleet !== undefined) throw wrongOption("fleet", "connect is one host, and fleet is many: give one of them");
  if (connect !== undefined || fleet !== undefined) refuseLocal(options);
  if (gateway !== undefined) checkGateway(gateway);
  for (const [at, spec] of (Array.isArray(plugins) ? plugins : []).entries()) checkSpec(spec, `plugins.${at}`);
}

function refuseLocal(options: object): void {
  for (const field of LOCAL)
    if ((options as Record<string, unknown>)[field] !== undefined)
      throw invalid(field, "a host that is joined with connect or fleet has its own; set it where creel serve is started");
}

function checkLogger(logger: unknown): void {
  for (const name of ["info", "warn", "error"])
    if (typeof (logger as Record<string, unknown> | null)?.[name] !== "function")
      throw wrongOption("logger", `it must have the methods of a pino logger, and has no ${name}`);
}

function checkGateway(gateway: unknown): void {
  if (typeof gateway !== "object" || gateway === null) throw wrongOption("gateway", "it must be an object of functions");
  refuseUnknown(gateway, OFFERS, "gateway.");
  for (const name of OFFERS) {
    const offered = (gateway as Record<string, unknown>)[name];
    if (offered !== undefined && typeof offered !== "function") throw wrongOption(`gateway.${name}`, "it must be a function");
  }
}

/** Checks the names; the schema checks the values. */
function checkSpec(spec: unknown, at: string): void {
  if (typeof spec === "string") throw invalid(at, `it must be an object, such as { path: ${JSON.stringify(spec)} }`);
  if (typeof spec !== "object" || spec === null) return;
  refuseUnknown(spec, SPEC, `${at}.`);
  if (!("path" in spec) && !("source" in spec)) throw wrongOption(at, "it needs a path, or an id and a source");
}

function refuseUnknown(given: object, known: readonly string[], prefix: string): void {
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw invalid(`${prefix}${name}`, `there is no such option${suggest(name, known)}`);
}

function invalid(field: string, detail: string): CreelError {
  return new CreelError("ERR_HOST_OPTIONS", { field, detail });
}
