/**
 * A named secret: where its value comes from, which origins may receive it, and where in a request it goes. The
 * operator grants a plugin its name. The host puts the value into the request and removes it from the response.
 */
import * as z from "zod";
import { key } from "./config-key.ts";
import { origin } from "./fetch-grant.ts";

/** Headers of the connection or of the host itself, which cannot carry a secret. */
const NOT_A_PLACE =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding|creel-.*|proxy-.*)$/i;

/** `localhost` always means this machine, see host/services/fetch/addresses.ts. */
const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

const secretOrigin = origin.refine((text) => text.startsWith("https:") || LOOPBACK.test(text), {
  error: "a secret is sent by https, or to this machine: write an origin that begins with https://",
});

function exactlyOne(...keys: readonly string[]) {
  return (value: Record<string, unknown>, context: z.core.$RefinementCtx) => {
    const given = keys.filter((name) => value[name] !== undefined);
    if (given.length === 1) return;
    const message = `exactly one of ${keys.join(", ")} must be there${given.length > 1 ? `, not ${given.join(" and ")}` : ""}`;
    context.issues.push({ code: "custom", message, input: undefined, path: [] });
  };
}

export const secretConfig = z
  .strictObject({
    origins: z.array(secretOrigin).min(1).meta({ description: "Which origins may receive it." }),
    env: key(z.string().min(1), "Its value is in this variable of the gateway's environment."),
    file: key(z.string().min(1), "Its value is in this file, relative to the configuration's. White space at its end is left out."),
    value: key(z.string(), "The value itself. Better kept elsewhere."),
    header: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~\w-]{1,128}$/, "it is not the name of a header")
      .refine((name) => !NOT_A_PLACE.test(name), "this header is the host's own: name another")
      .optional()
      .meta({ description: "The header it is sent in." }),
    format: z
      .string()
      .regex(/^[\u0020-\u007e]{0,256}$/, "it has characters that a header cannot have")
      .refine((format) => format.split("{secret}").length === 2, 'it must have one {secret} in it, such as "Bearer {secret}"')
      .optional()
      .meta({ description: "What the header says; `{secret}` is where the value goes.", default: "{secret}" }),
    query: key(z.string().min(1).max(128), "The parameter of the URL's query it is sent in."),
  })
  .superRefine(exactlyOne("env", "file", "value"))
  .superRefine(exactlyOne("header", "query"))
  .refine(({ format, query }) => format === undefined || query === undefined, {
    path: ["format"],
    error: "a format is for a header; in a query the value stands alone",
  });
export type SecretConfig = z.infer<typeof secretConfig>;

/** Where the key of the lock is. Never the key itself: the file is for people to read and to share. */
export const lockKeyConfig = z
  .strictObject({
    env: key(z.string().min(1), "The key is in this variable of the gateway's environment. No plugin can be granted that variable."),
    file: key(z.string().min(1), "The key is in this file, relative to the configuration's. White space at its end is left out."),
  })
  .superRefine(exactlyOne("env", "file"));

/** Where the address of a shared database is: it holds a password. */
export const databaseConfig = z
  .strictObject({
    env: key(z.string().min(1), "The URL is in this variable of the gateway's environment. No plugin can be granted that variable."),
    file: key(z.string().min(1), "The URL is in this file, relative to the configuration's. White space at its end is left out."),
  })
  .superRefine(exactlyOne("env", "file"));

export const secretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, "a secret's name has letters, digits, dots, dashes and underscores");
