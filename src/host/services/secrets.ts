/**
 * Trusted side: named secrets. Their values are read when the host opens, live in here and nowhere else, and leave only into
 * requests to the origins the operator bound them to. How often each was sent for whom, and found in an answer, is counted.
 */
import { readFile } from "node:fs/promises";
import { CreelError } from "../../protocol/errors.ts";
import type { Grants } from "../../protocol/config.ts";
import type { SecretConfig } from "../../protocol/secret-config.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { HostEvents } from "../events.ts";
import type { Hop } from "./exchange.ts";
import { secretsFor } from "./origins.ts";
import { redactionOf, Redactor } from "./redact.ts";
import type { Redaction } from "./redact.ts";

/** What an operator may know about a plugin's use of a secret. */
export interface SecretReport {
  readonly name: string;
  /** Requests it was sent with. */
  readonly uses: number;
  readonly lastUsed: Date | undefined;
  /** How often it was found in an answer, and taken out. */
  readonly redactions: number;
}

interface Secret {
  readonly name: string;
  readonly origins: ReadonlySet<string>;
  readonly redaction: Redaction;
  /** The request with the secret in it. */
  dress(hop: Hop): Hop;
  /** The same without. */
  undress(url: URL): URL;
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

  /** Where uses are told. */
  tell(events: Publish): void {
    this.#events = events;
  }

  /** Throws when the plugin's grants name what is not there. */
  check(plugin: string, { fetch = [], env = [] }: Grants, sources: Readonly<Record<string, SecretConfig>>): void {
    const wrong = (field: string, detail: string) =>
      new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: `plugins.entries.${plugin}.grants.${field}`, detail });
    for (const [index, grant] of fetch.entries()) {
      if (typeof grant === "string" || grant.secret === undefined) continue;
      const secret = this.#secrets.get(grant.secret);
      const field = `fetch.${index}.secret`;
      if (!secret) throw wrong(field, `there is no secret "${grant.secret}": add it to secrets`);
      if (!secret.origins.has(grant.origin))
        throw wrong(field, `"${grant.secret}" is not for ${grant.origin}: add that to secrets.${grant.secret}.origins, if it may be told`);
    }
    // SECURITY: a variable that holds a secret is not also shown to a plugin. test/contract/secrets.test.ts
    for (const [index, name] of env.entries())
      for (const [secret, { env: source }] of Object.entries(sources))
        if (source === name) throw wrong(`env.${index}`, `${name} is the value of the secret "${secret}", which no plugin may see`);
  }

  /** The request as it is sent: with the secrets of every grant that allows it, in place of what the plugin put there itself. */
  dress(plugin: string, grants: Grants["fetch"], hop: Hop): Hop {
    let dressed = hop;
    for (const name of secretsFor(grants ?? [], hop.url, hop.method)) {
      const secret = this.#secrets.get(name);
      // That the grant's origin is one of the secret's was checked at open; once more costs nothing.
      if (!secret?.origins.has(hop.url.origin)) continue;
      dressed = secret.dress(whole(dressed));
      const count = this.#count(plugin, name);
      count.uses += 1;
      count.lastUsed = new Date();
      this.#events?.publish("secret", { plugin, secret: name, origin: hop.url.origin, what: "sent" });
    }
    return dressed;
  }

  /** What must not come out of an answer: the plugin's own secrets, and whatever the origins have been told for anybody. */
  redactions(grants: Grants["fetch"], origins: ReadonlySet<string>): Redaction[] {
    const own = new Set((grants ?? []).flatMap((grant) => (typeof grant === "string" ? [] : (grant.secret ?? []))));
    return [...this.#secrets.values()]
      .filter((secret) => own.has(secret.name) || [...origins].some((origin) => secret.origins.has(origin)))
      .map(({ redaction }) => redaction);
  }

  /** All there are: what no log may show. */
  all(): Redaction[] {
    return Array.from(this.#secrets.values(), ({ redaction }) => redaction);
  }

  /** Without what the host has put into an URL of this origin, if a server gives it back. */
  undress(grants: Grants["fetch"], hop: Pick<Hop, "url" | "method">): URL {
    let { url } = hop;
    for (const name of secretsFor(grants ?? [], url, hop.method)) url = this.#secrets.get(name)?.undress(url) ?? url;
    return url;
  }

  /** Does an URL that a server gave us tell its host a secret that is not for it? `origins` have been told theirs. */
  isRevealed(url: URL, origins: ReadonlySet<string>): boolean {
    return [...this.#secrets.values()].some(
      (secret) =>
        !secret.origins.has(url.origin) &&
        [...origins].some((origin) => secret.origins.has(origin)) &&
        new Redactor([secret.redaction]).text(url.href) !== url.href,
    );
  }

  /** To be told of every secret that is found in one answer of the origin. All are counted; each is told of once. */
  finder(plugin: string, origin: string): (secret: string) => void {
    const told = new Set<string>();
    return (secret) => {
      this.#count(plugin, secret).redactions += 1;
      if (told.has(secret)) return;
      told.add(secret);
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
 * SECURITY: a plugin that may ask for any four bytes of an answer gets a secret in pieces that nobody recognises.
 * test/contract/secrets.test.ts
 */
function whole(hop: Hop): Hop {
  const { range: _, "if-range": __, ...headers } = hop.headers;
  return { ...hop, headers };
}

function keyOf(plugin: string, secret: string): string {
  return `${plugin}\n${secret}`;
}

/** Reads the values. `resolvePath` is for files. */
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
  // SECURITY: what is short is found in innocent answers too; and a line break would be a second header. test/contract/secrets.test.ts
  if (value.length < LIMITS.secretChars) throw wrong(`the secret has fewer than ${LIMITS.secretChars} characters`);
  if (value.length > LIMITS.secretMaxChars) throw wrong(`the secret has more than ${LIMITS.secretMaxChars} characters`);
  if (!/^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/.test(value))
    throw wrong("the secret has other characters than printable ASCII, or begins or ends with a space");
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

function placeOf({ header, format = "{secret}", query }: SecretConfig, value: string): Pick<Secret, "dress" | "undress"> {
  if (header !== undefined) {
    const name = header.toLowerCase();
    const text = format.split("{secret}").join(value);
    return { dress: (hop) => ({ ...hop, headers: { ...hop.headers, [name]: text } }), undress: (url) => url };
  }
  const parameter = `${encodeURIComponent(query!)}=${encodeURIComponent(value)}`;
  const undress = (from: URL): URL => {
    const rest = from.search.slice(1).split("&");
    const kept = rest.filter((pair) => !new URLSearchParams(pair).has(query!));
    if (kept.length === rest.length) return from;
    const url = new URL(from);
    url.search = kept.join("&");
    return url;
  };
  return {
    undress,
    dress: (hop) => {
      const url = new URL(undress(hop.url));
      url.search = url.search === "" ? parameter : `${url.search}&${parameter}`;
      return { ...hop, url };
    },
  };
}
