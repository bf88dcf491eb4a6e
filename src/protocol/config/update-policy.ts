/** `update` of creel.json: which updates are accepted without a person, and which never are. */
import * as z from "zod";
import { key } from "./config-key.ts";

/** A public Ed25519 key, as `creel sign` prints it: 32 bytes in base64. */
export const publicKey = z.string().regex(/^ed25519:[A-Za-z0-9+/]{43}=$/, 'is not "ed25519:" and 32 bytes in base64');

// Strict: a misspelt key would be a condition that is never checked.
export const updatePolicy = z.strictObject({
  auto: key(
    z.enum(["never", "same-permissions"]),
    "`never`: each update needs a yes. `same-permissions`: `creel update` takes one by itself if only its code has changed: no new permission, hook, tool, address or package. [installing.md](../guides/installing.md#updates-without-a-person)",
    { default: "never" },
  ),
  minAgeDays: key(
    z.number().nonnegative().max(3_650),
    "With `auto`: only if the registry says that it, and every package that it did not need before, was published so many days ago. Where no registry says so, it is not old enough.",
  ),
  signedBy: key(
    z.array(publicKey).min(1).max(64),
    "With `auto`: only if the package is signed (`creel sign`) with one of these keys, and needs the packages that it needed before.",
  ),
});
export type UpdatePolicy = z.infer<typeof updatePolicy>;
