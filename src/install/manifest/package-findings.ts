/**
 * Trusted side: findings about a package apart from its code: scripts, names, builtin modules, and the registry's
 * metadata.
 */
import type { Builtin, Severity } from "../../bundler/messages.ts";
import { oneLine } from "../../text/one-line.ts";
import { GUEST_MODULES } from "../../protocol/guest-surface/surface.ts";
import type { Fetched } from "../fetch/fetch.ts";
import type { Announced } from "../fetch/npm.ts";
import { lookalikes } from "./plugin-id.ts";

export interface InstallFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Packages that typosquatters imitate most often. */
const POPULAR = [
  "ajv axios bluebird body-parser chalk cheerio chokidar colors commander cookie cors cross-env crypto-js dayjs debug discord.js dotenv esbuild",
  "eslint ethers express fastify form-data fs-extra glob got graphql handlebars inquirer ioredis jest jose jquery js-yaml jsonwebtoken lodash",
  "luxon mathjs minimatch minimist mkdirp moment mongodb mongoose mysql2 nanoid node-fetch nodemailer openai openclaw passport pino playwright",
  "prettier prisma puppeteer react redis request rimraf rollup rxjs semver sequelize sharp socket.io superagent tslib twilio typescript uglify-js",
  "underscore undici uuid validator vite vue webpack winston yargs zod",
]
  .join(" ")
  .split(" ");

/** OpenClaw's plugins that are separate packages in the registry. */
const OWN_SCOPE = "@openclaw/";
const OWN = [
  "brave-plugin codex discord feishu googlechat kitchen-sink line matrix msteams nextcloud-talk nostr signal slack synology-chat tlon",
  "twitch whatsapp zalo zalouser",
]
  .join(" ")
  .split(" ");
/** Packages of others that many use. */
const COMMUNITY = ["@mem0/openclaw-mem0", "@ollama/openclaw-web-search"];
const KNOWN_PLUGINS = [...OWN.map((name) => `${OWN_SCOPE}${name}`), ...COMMUNITY];

/** So long it takes, as a rule, until a package that was taken over is noticed. */
const YOUNG_MS = 3 * 24 * 3_600_000;

/** Another installed plugin. */
export interface Installed {
  readonly id: string;
  readonly source: { readonly spec: string };
}

export function packageFindings(
  id: string,
  { package: found, dependencies, announced }: Pick<Fetched, "package" | "dependencies" | "announced">,
  installed: readonly Installed[],
  builtins: readonly Builtin[],
  nowMs = Date.now(),
): InstallFinding[] {
  const file = "package.json";
  const findings: InstallFinding[] = [];
  const add = (rule: string, severity: Severity, message: string, where = file, line = 1): void =>
    void findings.push({ rule, severity, file: where, line, message });
  const ids = installed.map((one) => one.id);
  for (const { id: other, why } of lookalikes(id, ids)) add("lookalike", "critical", `its id ${why}: "${other}" is installed`);
  if (found?.name !== undefined)
    for (const { id: other, why } of lookalikes(found.name, POPULAR))
      add("typosquat", "warn", `its package name ${why}: "${other}" is well known`);
  for (const message of pluginLikeness(id, found?.name, installed)) add("typosquat", "warn", message);
  for (const { name } of dependencies)
    for (const { id: other, why } of lookalikes(name, POPULAR))
      // A scoped name is not a typo of an unscoped one.
      if (!name.startsWith("@") && !POPULAR.includes(name))
        add("typosquat", "warn", `it requires "${oneLine(name, 214)}", whose name ${why}: "${other}" is well known`);
  if (found && found.installScripts.length > 0)
    add(
      "install-script",
      "warn",
      `it has scripts that npm would run at installation (${found.installScripts.join(", ")}); Creel did not run them`,
    );
  if (announced) for (const { rule, severity, message } of registryFindings(announced, nowMs)) add(rule, severity, message);
  if (found?.hasBin) add("bin", "info", "it has commands (bin); Creel does not link them");
  for (const { name, version, hasInstallScript, deprecated } of dependencies) {
    const which = oneLine(`${name}@${version}`, 300);
    if (hasInstallScript) add("install-script", "warn", `${which} has scripts that npm would run at installation; Creel did not run them`);
    if (deprecated !== undefined) add("deprecated", "warn", `${which} is deprecated: ${oneLine(deprecated, 160)}`);
  }
  for (const { name, importers, line } of builtins) {
    const where = importers[0] ?? file;
    if (Object.hasOwn(GUEST_MODULES, name)) add("builtin", "info", `uses Node's "${oneLine(name, 64)}", which the sandbox provides`, where);
    else add("absent-builtin", "warn", `uses Node's "${oneLine(name, 64)}", which the sandbox does not have`, where, line);
  }
  return findings;
}

/** Plugins, well known or installed, that it could be mistaken for. */
function* pluginLikeness(id: string, name: string | undefined, installed: readonly Installed[]): Generator<string> {
  const seen = new Set<string>();
  // Similar ids are reported as critical already.
  const others = installed.filter((one) => lookalikes(id, [one.id]).length === 0);
  const packages = others.map(({ source }) => packageOf(source.spec)).filter((one) => one !== undefined);
  for (const { id: other, why } of name === undefined || KNOWN_PLUGINS.includes(name) ? [] : lookalikes(name, KNOWN_PLUGINS)) {
    seen.add(other);
    yield `its package name ${why}: "${other}" is a well-known plugin`;
  }
  for (const { id: other, why } of name === undefined ? [] : lookalikes(name, packages)) {
    seen.add(other);
    yield `its package name ${why}: "${other}" is installed`;
  }
  const isOwn = name?.startsWith(OWN_SCOPE) === true;
  for (const other of isOwn ? [] : OWN) {
    const likeness = lookalikes(id, [other])[0];
    const why = id === other ? "is taken" : likeness?.why;
    // The similar package name was reported already.
    if (why !== undefined && !seen.has(`${OWN_SCOPE}${other}`)) yield `its id ${why}: "${other}" is OpenClaw's own ${OWN_SCOPE}${other}`;
  }
}

/** Of a source that a registry has: its package. */
function packageOf(spec: string): string | undefined {
  return /^(?:file|git):/.test(spec) ? undefined : /^(@?[^@]+)/.exec(spec)?.[1];
}

/** Dates and not ages: a review must be the same tomorrow, as long as nothing has changed. */
function* registryFindings(
  { deprecated, publishedAt, provenance, isSigned }: Announced,
  nowMs: number,
): Generator<Pick<InstallFinding, "rule" | "severity" | "message">> {
  if (deprecated !== undefined)
    yield { rule: "deprecated", severity: "warn", message: `the package is deprecated: ${oneLine(deprecated, 200)}` };
  const stated =
    provenance === undefined
      ? `the registry states no provenance${isSigned ? ", only that it has signed the archive" : ""}; the source it was built from is not attested`
      : `the registry states provenance (${oneLine(provenance, 100)})${isSigned ? " and has signed the archive" : ""}`;
  yield {
    rule: "provenance",
    severity: "info",
    message: `${stated}; Creel compared the bytes with the registry's integrity, and verified no signature`,
  };
  if (publishedAt === undefined) {
    yield { rule: "published", severity: "info", message: "the registry does not say when it was published" };
    return;
  }
  const date = publishedAt.toISOString().slice(0, 16).replace("T", " ");
  if (nowMs - publishedAt.getTime() > YOUNG_MS) yield { rule: "published", severity: "info", message: `published on ${date} UTC` };
  else
    yield {
      rule: "published",
      severity: "warn",
      message: `published on ${date} UTC, only days ago: it may not have been reviewed by others yet`,
    };
}
