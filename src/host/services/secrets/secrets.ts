/**
 * Trusted side: named secrets. The host reads their values when it opens, keeps them only here, and sends them only in
 * requests to the origins that the operator bound them to. It counts how often each secret was sent for each plugin and
 * found in a response.
 */
import { readFile } from "node:fs/promises";
import { CreelError } from "../../../protocol/errors.ts";
import type { Grants } from "../../../protocol/config/config.ts";
import type { SecretConfig } from "../../../protocol/config/secrets.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { HostEvents } from "../../report/events.ts";
import type { HttpRequest } from "../fetch/request.ts";
import { secretsFor } from "../fetch/match-grant.ts";
import { redactionOf, Redactor } from "./redact.ts";
import type { Redaction } from "./redact.ts";

/** What an operator may learn about a plugin's use of a secret. */
export interface SecretReport {
  readonly name: string;
  /** Requests that carried it. */
  readonly uses: number;
  readonly lastUsed: Date | undefined;
  /** How often it was found in a response and removed. */
  readonly redactions: number;
}

interface Secret {
  readonly name: string;
  readonly origins: ReadonlySet<string>;
  readonly redaction: Redaction;
  /** The request with the secret. */
  injectSecrets(request: HttpRequest): HttpRequest;
  /** The URL without the secret. */
  stripSecrets(url: URL): URL;
}

interface Count {
  uses: number;
  lastUsed: Date | undefined;
  redactions: number;
}

type Publish = Pick<HostEvents, "publish">;

export class Secrets {
  readonly #secrets: ReadonlyMap<string, Secret>;
  readonly #counts = new Map<string, Count>();
  #events: Publish | undefined;

  constructor(secrets: readonly Secret[] = []) {
    this.#secrets = new Map(secrets.map((secret) => [secret.name, secret]));
  }

  /** Where uses are published. */
  publishTo(events: Publish): void {
    this.#events = events;
  }

  /** Throws when the plugin's grants name a secret that does not exist or is not for that origin. */
  check(plugin: string, { fetch = [], env = [] }: Grants, sources: Readonly<Record<string, SecretConfig>>): void {
    const wrong = (field: string, detail: string) =>
      new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: `plugins.entries.${plugin}.grants.${field}`, detail });
    for (const [index, grant] of fetch.entries()) {
      if (typeof grant === "string" || grant.secret === undefined) continue;
      const secret = this.#secrets.get(grant.secret);
      const field = `fetch.${index}.secret`;
      if (!secret) throw wrong(field, `there is no secret "${grant.secret}": add it to secrets`);
      if (!secret.origins.has(grant.origin))
        throw wrong(
          field,
          `"${grant.secret}" is not for ${grant.origin}: add the origin to secrets.${grant.secret}.origins if it may receive the secret`,
        );
    }
    // SECURITY: a plugin must not see a variable that holds a secret. test/contract/secrets.test.ts
    for (const [index, name] of env.entries())
      for (const [secret, { env: source }] of Object.entries(sources))
        if (source === name) throw wrong(`env.${index}`, `${name} is the value of the secret "${secret}", which no plugin may see`);
  }

  /**
   * The request as it is sent: with the secrets of every grant that allows it, replacing what the plugin put in their
   * place.
   */
  injectSecrets(plugin: string, grants: Grants["fetch"], request: HttpRequest): HttpRequest {
    let withSecrets = request;
    for (const name of secretsFor(grants ?? [], request.url, request.method)) {
      const secret = this.#secrets.get(name);
      // The grant's origin was checked when the host opened; a second check costs nothing.
      if (!secret?.origins.has(request.url.origin)) continue;
      withSecrets = secret.injectSecrets(whole(withSecrets));
      const count = this.#count(plugin, name);
      count.uses += 1;
      count.lastUsed = new Date();
      this.#events?.publish("secret", { plugin, secret: name, origin: request.url.origin, what: "sent" });
    }
    return withSecrets;
  }

  /** What a response must not contain: the plugin's own secrets, and every secret that these origins may know. */
  redactions(grants: Grants["fetch"], origins: ReadonlySet<string>): Redaction[] {
    const own = new Set((grants ?? []).flatMap((grant) => (typeof grant === "string" ? [] : (grant.secret ?? []))));
    return [...this.#secrets.values()]
      .filter((secret) => own.has(secret.name) || [...origins].some((origin) => secret.origins.has(origin)))
      .map(({ redaction }) => redaction);
  }

  /** All secrets, for logs. */
  all(): Redaction[] {
    return Array.from(this.#secrets.values(), ({ redaction }) => redaction);
  }

  /** Removes what the host put into a URL of this origin, in case a server sends it back. */
  stripSecrets(grants: Grants["fetch"], request: Pick<HttpRequest, "url" | "method">): URL {
    let { url } = request;
    for (const name of secretsFor(grants ?? [], url, request.method)) url = this.#secrets.get(name)?.stripSecrets(url) ?? url;
    return url;
  }

  /** Whether a URL from a server would reveal a secret to an origin that it is not for. `origins` know theirs. */
  isRevealed(url: URL, origins: ReadonlySet<string>): boolean {
    return [...this.#secrets.values()].some(
      (secret) =>
        !secret.origins.has(url.origin) &&
        [...origins].some((origin) => secret.origins.has(origin)) &&
        new Redactor([secret.redaction]).text(url.href) !== url.href,
    );
  }

  /** A listener for the secrets found in one response of the origin. It counts every one and publishes each once. */
  finder(plugin: string, origin: string): (secret: string) => void {
    const published = new Set<string>();
    return (secret) => {
      this.#count(plugin, secret).redactions += 1;
      if (published.has(secret)) return;
      published.add(secret);
      this.#events?.publish("secret", { plugin, secret, origin, what: "redacted" });
    };
  }

  report(plugin: string, { fetch = [] }: Grants): SecretReport[] {
    const names = new Set(fetch.flatMap((grant) => (typeof grant === "string" ? [] : (grant.secret ?? []))));
    return [...names].map((name) => ({ name, uses: 0, lastUsed: undefined, redactions: 0, ...this.#counts.get(keyOf(plugin, name)) }));
  }

  #count(plugin: string, secret: string): Count {
    const key = keyOf(plugin, secret);
    let count = this.#counts.get(key);
    if (!count) this.#counts.set(key, (count = { uses: 0, lastUsed: undefined, redactions: 0 }));
    return count;
  }
}

/**
 * SECURITY: a plugin that may request any four bytes of a response would get a secret in pieces that the redactor
 * cannot recognise. test/contract/secrets.test.ts
 */
function whole(request: HttpRequest): HttpRequest {
  const { range: _, "if-range": __, ...headers } = request.headers;
  return { ...request, headers };
}

function keyOf(plugin: string, secret: string): string {
  return `${plugin}\n${secret}`;
}

/** Reads the values. `resolvePath` resolves the path of a secret's file. */
export async function readSecrets(
  configs: Readonly<Record<string, SecretConfig>> = {},
  resolvePath: (path: string) => string = (path) => path,
): Promise<Secrets> {
  return new Secrets(await Promise.all(Object.entries(configs).map(([name, config]) => readSecret(name, config, resolvePath))));
}

async function readSecret(name: string, config: SecretConfig, resolvePath: (path: string) => string): Promise<Secret> {
  const source = config.env === undefined ? (config.file === undefined ? "value" : "file") : "env";
  const wrong = (detail: string) =>
    new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: `secrets.${name}.${source}`, detail });
  const value = await valueOf(config, resolvePath, wrong);
  // SECURITY: a short secret would match harmless responses, and a line break would start a second header.
  // test/contract/secrets.test.ts
  if (value.length < LIMITS.secrets.minChars) throw wrong(`the secret has fewer than ${LIMITS.secrets.minChars} characters`);
  if (value.length > LIMITS.secrets.maxChars) throw wrong(`the secret has more than ${LIMITS.secrets.maxChars} characters`);
  if (!/^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/.test(value))
    throw wrong("the secret must be printable ASCII that neither begins nor ends with a space");
  return { name, origins: new Set(config.origins), redaction: redactionOf(name, value), ...placeOf(config, value) };
}

async function valueOf(
  { env, file, value }: SecretConfig,
  resolvePath: (path: string) => string,
  wrong: (detail: string) => CreelError,
): Promise<string> {
  if (env !== undefined) {
    const found = process.env[env];
    if (found === undefined) throw wrong(`the variable ${env} is not set`);
    return found;
  }
  if (file === undefined) return value!;
  try {
    return (await readFile(resolvePath(file), "utf8")).trimEnd();
  } catch (error) {
    throw wrong(`the file cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function placeOf({ header, format = "{secret}", query }: SecretConfig, value: string): Pick<Secret, "injectSecrets" | "stripSecrets"> {
  if (header !== undefined) {
    const name = header.toLowerCase();
    const text = format.split("{secret}").join(value);
    return { injectSecrets: (request) => ({ ...request, headers: { ...request.headers, [name]: text } }), stripSecrets: (url) => url };
  }
  const parameter = `${encodeURIComponent(query!)}=${encodeURIComponent(value)}`;
  const stripSecrets = (from: URL): URL => {
    const rest = from.search.slice(1).split("&");
    const kept = rest.filter((pair) => !new URLSearchParams(pair).has(query!));
    if (kept.length === rest.length) return from;
    const url = new URL(from);
    url.search = kept.join("&");
    return url;
  };
  return {
    stripSecrets,
    injectSecrets: (request) => {
      const url = new URL(stripSecrets(request.url));
      url.search = url.search === "" ? parameter : `${url.search}&${parameter}`;
      return { ...request, url };
    },
  };
}
