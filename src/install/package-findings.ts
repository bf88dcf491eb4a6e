/** Trusted side: what there is to say about a package before one looks at its code: scripts, names, modules of Node's. */
import type { Builtin, Severity } from "../host/bundler-message.ts";
import { oneLine } from "../host/guest-error.ts";
import { GUEST_MODULES } from "../protocol/surface.ts";
import type { Fetched } from "./fetch.ts";
import { lookalikes } from "./plugin-id.ts";

export interface InstallFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Packages that others are most often named after. A short list: it is the names that everybody types. */
const POPULAR = [
  "ajv axios bluebird body-parser chalk cheerio chokidar colors commander cookie cors cross-env crypto-js dayjs debug discord.js dotenv esbuild",
  "eslint ethers express fastify form-data fs-extra glob got graphql handlebars inquirer ioredis jest jose jquery js-yaml jsonwebtoken lodash",
  "luxon mathjs minimatch minimist mkdirp moment mongodb mongoose mysql2 nanoid node-fetch nodemailer openai openclaw passport pino playwright",
  "prettier prisma puppeteer react redis request rimraf rollup rxjs semver sequelize sharp socket.io superagent tslib twilio typescript uglify-js",
  "underscore undici uuid validator vite vue webpack winston yargs zod",
]
  .join(" ")
  .split(" ");

export function packageFindings(
  id: string,
  { package: found, dependencies }: Pick<Fetched, "package" | "dependencies">,
  installed: readonly string[],
  builtins: readonly Builtin[],
): InstallFinding[] {
  const file = "package.json";
  const findings: InstallFinding[] = [];
  const add = (rule: string, severity: Severity, message: string, where = file): void =>
    void findings.push({ rule, severity, file: where, line: 1, message });
  for (const { id: other, why } of lookalikes(id, installed)) add("lookalike", "critical", `its id ${why}: "${other}" is installed`);
  if (found?.name !== undefined)
    for (const { id: other, why } of lookalikes(found.name, POPULAR))
      add("typosquat", "warn", `its package's name ${why}: "${other}" is well known`);
  for (const { name } of dependencies)
    for (const { id: other, why } of lookalikes(name, POPULAR))
      // A scope of somebody's own is no mistake in typing.
      if (!name.startsWith("@") && !POPULAR.includes(name))
        add("typosquat", "warn", `it needs "${oneLine(name, 214)}", whose name ${why}: "${other}" is well known`);
  if (found && found.installScripts.length > 0)
    add(
      "install-script",
      "warn",
      `it has scripts that npm would run at installation (${found.installScripts.join(", ")}); here none was run`,
    );
  if (found?.hasBin) add("bin", "info", "it brings commands (bin); here they are not linked anywhere");
  for (const { name, version, hasInstallScript, deprecated } of dependencies) {
    const which = oneLine(`${name}@${version}`, 300);
    if (hasInstallScript) add("install-script", "warn", `${which} has scripts that npm would run at installation; here none was run`);
    if (deprecated !== undefined) add("deprecated", "warn", `${which} is deprecated: ${oneLine(deprecated, 160)}`);
  }
  for (const { name, importers } of builtins) {
    const where = importers[0] ?? file;
    if (Object.hasOwn(GUEST_MODULES, name)) add("builtin", "info", `uses Node's "${oneLine(name, 64)}", as the sandbox has it`, where);
    else add("absent-builtin", "warn", `asks for Node's "${oneLine(name, 64)}", which the sandbox does not have`, where);
  }
  return findings;
}
