/**
 * Which environment variables a plugin may set for a command. Variables that choose what code runs, or where its
 * traffic goes, belong to the host.
 */
import * as z from "zod";

const HOST_CRITICAL = [
  // Which programs are found and run.
  /^(PATH|PATHEXT|COMSPEC|SHELL|HOME|USERPROFILE|IFS|CDPATH)$/,
  // Code that is loaded into every process.
  /^(LD_|DYLD_|BASH_FUNC_|COR_|CORECLR_|DOTNET_)/,
  // Code that a shell or an interpreter runs before its script.
  /^(ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|ZDOTDIR|GCONV_PATH)$/,
  /^(NODE_|NPM_CONFIG_|BUN_|DENO_|PYTHON|PERL5|RUBYOPT$|RUBYLIB$|JAVA_TOOL_OPTIONS$|_JAVA_OPTIONS$|JDK_JAVA_OPTIONS$)/,
  // Programs that git and pagers start.
  /^(GIT_|EDITOR$|VISUAL$|PAGER$|LESSOPEN$|BROWSER$)/,
  // Where traffic goes, and which certificates are trusted.
  /(^|_)PROXY$/,
  /^(SSL_CERT_FILE|SSL_CERT_DIR|SSLKEYLOGFILE|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|OPENSSL_CONF)$/,
];

// SECURITY: compared in upper case, because Windows does, and proxies are read in either. test/protocol/catalog.test.ts
export function isHostCritical(name: string): boolean {
  const upper = name.toUpperCase();
  return !/^[A-Z_][A-Z0-9_]*$/.test(upper) || HOST_CRITICAL.some((pattern) => pattern.test(upper));
}

/** Variables for a command, without those of the host. */
export const execEnv = z
  .record(z.string(), z.string())
  .transform((env) => Object.fromEntries(Object.entries(env).filter(([name]) => !isHostCritical(name))));
