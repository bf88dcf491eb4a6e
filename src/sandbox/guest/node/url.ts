/** Inside the isolate: `url`. */
import { URL, URLSearchParams } from "../web/url/url.ts";
import { Buffer } from "./buffer/buffer-class.ts";
import { checkString, invalidArgType, nodeError } from "./errors.ts";
import path from "./path.ts";
import { format, parse, resolve, resolveObject, Url } from "./url-legacy.ts";

function fileUrl(given: unknown): URL {
  if (typeof given !== "string" && !(given instanceof URL)) throw invalidArgType("path", "of type string or an instance of URL", given);
  const url = typeof given === "string" ? new URL(given) : given;
  if (url.protocol !== "file:") throw nodeError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (url.hostname !== "") throw nodeError(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(url.pathname))
    throw nodeError(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
  return url;
}

function pathToFileURL(given: unknown): URL {
  checkString(given, "path");
  // `resolve` drops a trailing slash.
  const whole = path.resolve(given) + (given.endsWith("/") && path.resolve(given) !== "/" ? "/" : "");
  const escaped = whole.replaceAll(/[\t\n\r"#%?[\\\]^|~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return new URL(`file://${escaped}`);
}

function domainToASCII(domain: unknown): string {
  return URL.parse(`ws://${String(domain)}`)?.hostname ?? "";
}

function urlToHttpOptions(url: URL): object {
  const { hostname, port, username, password, pathname, search } = url;
  return {
    __proto__: null,
    ...(url as object),
    protocol: url.protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash: url.hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href: url.href,
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username === "" && password === "" ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
}

export default {
  Url,
  parse,
  resolve,
  resolveObject,
  format,
  URL,
  URLSearchParams,
  domainToASCII,
  pathToFileURL,
  fileURLToPath: (given: unknown): string => decodeURIComponent(fileUrl(given).pathname),
  fileURLToPathBuffer: (given: unknown): Buffer => Buffer.from(decodeURIComponent(fileUrl(given).pathname)),
  urlToHttpOptions,
};
