/**
 * Trusted side: options that restrict npm to its registries while it resolves dependencies. Dependencies have
 * dependencies, whose specs npm reads before Creel can: npm must not follow one to git, a URL or a file.
 */
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";

/** A program that does not exist: npm, whichever version, has no git. */
export const NO_GIT = "/nonexistent/creel-lets-npm-have-no-git";
/** Connections to it are refused on every machine: port 0 cannot be listened on. */
const NOWHERE = "http://127.0.0.1:0/";

const settings = z.looseObject({ registry: z.string(), proxy: z.unknown().optional(), "https-proxy": z.unknown().optional() });

const PROXIES = ["http_proxy", "https_proxy", "proxy", "HTTP_PROXY", "HTTPS_PROXY", "PROXY"];

/** `config` is the output of `npm config list --json`, `env` the environment of npm. */
export function keptToRegistries(config: unknown, env: Readonly<Record<string, string | undefined>>): string[] {
  const found = settings.parse(config);
  const closed = ["git", "remote", "file", "directory"].map((kind) => `--allow-${kind}=none`);
  const always = [`--git=${NO_GIT}`];
  // npm has these options since version 11; an older one would ignore them.
  if ("allow-git" in found && "allow-remote" in found) return [...always, ...closed];
  if (found.proxy || found["https-proxy"] || PROXIES.some((name) => env[name])) throw new CreelError("ERR_INSTALL_OLD_NPM");
  // An older npm reaches all other hosts through a proxy that does not exist. Metadata comes from the registries only.
  const registries = Object.entries(found).filter(([key]) => key === "registry" || key.endsWith(":registry"));
  const hosts = registries.flatMap(([, address]) => (URL.canParse(String(address)) ? new URL(String(address)).hostname : []));
  return [...always, `--proxy=${NOWHERE}`, `--https-proxy=${NOWHERE}`, `--noproxy=${[...new Set(hosts)].join(",")}`];
}
