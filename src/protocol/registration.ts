/** What a plugin declares while it registers, as it comes out of its cell: hostile until this schema has passed it. */
import * as z from "zod";
import { LIMITS } from "./limits.ts";

const name = z.string().min(1).max(LIMITS.nameChars);

/** An empty list would match nothing, which is never meant. */
const names = z.array(name).min(1).max(256);

export const handlerOptions = z.looseObject({
  priority: z.number().optional(),
  timeoutMs: z.number().positive().optional(),
  cpuMs: z.number().positive().optional(),
  registrationId: name.optional(),
  matcher: names.optional(),
  eligibleTriggers: names.optional(),
  eligibleDispatchKinds: names.optional(),
  /** Turn hooks: only for these agents. */
  agentIds: names.optional(),
  requiresToolAuthority: z.boolean().optional(),
  /** session:patch: call the handler for the plugin's own patches too. */
  reentrant: z.boolean().optional(),
});
export type HandlerOptions = z.infer<typeof handlerOptions>;

/** A member of `api` that is not there, and what the plugin got instead: a function that does nothing, or undefined. */
export const touched = z.object({ member: name, as: z.enum(["inert", "absent"]) });
export type Touched = z.infer<typeof touched>;

export const registration = z.object({
  id: name.optional(),
  name: z.string().max(LIMITS.nameChars).optional(),
  version: z.string().max(64).optional(),
  /** In registration order; the position is the handler's number. */
  handlers: z
    .array(
      z.object({
        /** A hook, or, of a function, its kind. */
        hook: name,
        options: handlerOptions,
        /** How many of its arguments, event and context, it can see; unset: both. */
        sees: z.int().min(0).max(2).optional(),
        /** Set for what is no handler of a hook; see functions.ts. `about` is judged where the function is taken in. */
        function: z.object({ name, about: z.unknown() }).optional(),
      }),
    )
    .max(LIMITS.handlers),
  /** Members of `api` that it looked for in vain. */
  touched: z.array(touched).max(LIMITS.touchedMembers).optional(),
});
export type Registration = z.infer<typeof registration>;

/** Ids are part of log lines, lock files and paths: ASCII, no spaces, an npm-like scope at most. */
export const pluginId = z
  .string()
  .max(LIMITS.nameChars)
  .regex(/^(?:@[a-z0-9][a-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/);
