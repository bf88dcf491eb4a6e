/**
 * Trusted side: what a plugin sees of the operator's configuration as `api.config`. OpenClaw's plugins look there for their own entry and
 * for a few settings of the gateway's. The rule:
 *
 * - of `plugins.entries` it sees only its own, as `enabled`, `config` and `hooks`;
 * - grants, `secrets`, every `env`, and keys with a path of this machine (`stateDir`, `lockKey`, `kv`, `load`, `hooks.agent`) are left out;
 * - elsewhere, values under a name that means a secret are redacted, and so are texts that look like one: user names and passwords in
 *   URLs, such parameters, keys with a well-known prefix.
 *
 * Its own `config` stays as it is: the operator wrote it for this plugin. `agents.defaults` is an object, as it always is in OpenClaw,
 * whose plugins read it while they register.
 */
import type { CreelConfig } from "../../protocol/config/config.ts";

const REDACTED = "[redacted]";

/** Names that mean a secret, wherever they stand. */
const SECRET_NAME =
  /secret|passw|passphrase|credential|authorization|bearer|cookie|token|(?:api|access|private|signing|encryption|auth)[-_]?key|(?:^|[-_])(?:key|auth|pin|dsn|pwd|pass)$|[a-z](?:Key|Pin|Dsn|Pwd)$/i;
/** `maxTokens` and the like are sizes. */
const SIZE_NAME = /tokens$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Left out, wherever they stand. */
const LEFT_OUT: ReadonlySet<string> = new Set(["env", "grants", "permissions", "secrets"]);

const USER_INFO = /(\/\/)[^/@\s]+@/g;
const SECRET_PARAMETER = /([?&][^=&#\s]*(?:key|token|secret|sig|passw|auth)[^=&#\s]*=)[^&#\s]+/gi;
const KNOWN_SECRET = /\b(?:sk-|sk_live_|rk_live_|gh[opsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|eyJ[\w-]+\.)[\w.-]{8,}/g;

/** SECURITY: it goes into the plugin's cell. test/host/plugins/visible-config.test.ts */
export function visibleConfig(config: CreelConfig, id: string, own: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const {
    stateDir: _,
    plugins = {},
    hooks = {},
    sandbox: __,
    limits: ___,
    audit: ________,
    lockKey: _________,
    kv: __________,
    ...rest
  } = config;
  const { entries = {}, load: ____, ...ofPlugins } = plugins;
  const { agent: _____, internal, ...ofHooks } = hooks;
  const { load: ______, entries: _______, ...ofInternal } = internal ?? {};
  const entry = entries[id];
  const settings = redacted(rest) as { agents?: { defaults?: object } };
  return {
    ...settings,
    agents: { ...settings.agents, defaults: { ...settings.agents?.defaults } },
    plugins: {
      ...(redacted(ofPlugins) as object),
      entries: { [id]: { enabled: true, ...(entry?.hooks && { hooks: entry.hooks }), config: own } },
    },
    ...(Object.keys(hooks).length > 0 && { hooks: redacted({ ...ofHooks, ...(internal && { internal: ofInternal }) }) }),
  };
}

/** The same rule for any configuration, such as a gateway's own: without secrets, `env`, `grants` and what looks like a secret. */
export function redactConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redacted(config) as Record<string, unknown>;
}

function redacted(value: unknown): unknown {
  if (typeof value === "string") return withoutSecrets(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, inner]) => [name, SECRET_NAME.test(name) ? hidden(name, inner) : redacted(inner)]),
  );
}

/** Redacts everything under the name: a table of tokens is a table of secrets. Objects such as `auth: { mode, token }` keep their shape. */
function hidden(name: string, value: unknown): unknown {
  if (value === null || typeof value === "boolean" || value === undefined) return value;
  if (typeof value === "number" && SIZE_NAME.test(name)) return value;
  if (typeof value !== "object") return REDACTED;
  if (Array.isArray(value)) return value.map((item) => hidden("", item));
  return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, hidden(inner, item)]));
}

function withoutSecrets(text: string): string {
  return text.replace(USER_INFO, `$1${REDACTED}@`).replace(SECRET_PARAMETER, `$1${REDACTED}`).replace(KNOWN_SECRET, REDACTED);
}
