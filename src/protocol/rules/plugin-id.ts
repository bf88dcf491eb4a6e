/** The id of a plugin. Apart from the registration, which readers of the lock do not need. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";

/** Ids are part of log lines, lock files and paths: ASCII, no spaces, at most an npm-like scope. */
export const pluginId = z
  .string()
  .max(LIMITS.call.nameChars)
  .regex(/^(?:@[a-z0-9][a-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/);
