/**
 * Trusted side: grants that need a second confirmation: permissions that the plugin never requested, plain http
 * addresses, and connections across a network that need not be TLS. Permissions that are granted already need none.
 * SECURITY: test/install/review/grant-concerns.test.ts
 */
import { connectHost, isSecureTarget } from "../../protocol/config/connect-grant.ts";
import { suggest } from "../../text/did-you-mean.ts";
import { CreelError } from "../../protocol/errors.ts";
import { grantOf } from "../../protocol/config/permission-key.ts";
import type { Grant } from "../../protocol/config/permission-key.ts";
import { acceptedBy, isCovered } from "./permission-keys.ts";
import type { Accepted } from "./permission-keys.ts";
import type { RequestedPermission } from "./requested-permissions.ts";

export interface Concern {
  readonly key: string;
  readonly isUnasked: boolean;
  /** Plain http, or a connection of which the plugin decides whether it is encrypted. */
  readonly isInsecure: boolean;
  /** The end of a sentence with the key that may have been meant. */
  readonly hint: string;
}

/** The flags by which an operator without a terminal says that they mean it. */
const UNASKED = "--unasked";
const INSECURE = "--insecure";

/** What the plugin requests, by its manifest or by its hooks. What only the scan of its code found is no request. */
export function requestedKeys(permissions: readonly Pick<RequestedPermission, "key" | "from">[]): string[] {
  return permissions.flatMap(({ key, from }) => (from === "scan" ? [] : [key]));
}

/**
 * `asked`: the keys that the plugin requests; in a review, where the person sees from where each comes, also those of the scan. `before`: what is
 * granted already.
 */
export function concernsOf(keys: Iterable<string>, asked: readonly string[], before: Accepted | undefined): Concern[] {
  const requested = acceptedBy(asked, asked);
  return [...keys].flatMap((key) => {
    const grant = grantOf(key);
    // A key that means nothing is refused elsewhere, with the keys that do.
    if (!grant || (before && isCovered(grant, before))) return [];
    const isUnasked = !isCovered(grant, requested);
    const isInsecure = mayBePlain(grant);
    return isUnasked || isInsecure ? [{ key, isUnasked, isInsecure, hint: isUnasked ? suggest(key, asked) : "" }] : [];
  });
}

/** A connection within the machine has no network path. A plain http: address counts wherever it leads. */
function mayBePlain(grant: Grant): boolean {
  if ("fetch" in grant) return grant.fetch.origin.startsWith("http:");
  return "connect" in grant && !isSecureTarget(grant.connect) && !/^(?:localhost|127\.[\d.]+|::1)$/.test(connectHost(grant.connect));
}

/** The key that grants the same, encrypted. */
const encrypted = (key: string): string => key.replace(/^fetch:http:/, "fetch:https:").replace(/^connect:/, "connect:tls://");

/** The flags that a command for these keys needs. */
export function flagsFor(keys: Iterable<string>, asked: readonly string[], before: Accepted | undefined): string[] {
  const concerns = concernsOf(keys, asked, before);
  return [
    ...(concerns.some(({ isUnasked }) => isUnasked) ? [UNASKED] : []),
    ...(concerns.some(({ isInsecure }) => isInsecure) ? [INSECURE] : []),
  ];
}

export interface Meant {
  readonly isUnasked: boolean;
  readonly isInsecure: boolean;
}

/**
 * Without a terminal: throws for the first concern that no flag confirms. `command` gives the command with the flags
 * added.
 */
export function expectMeant(concerns: readonly Concern[], meant: Meant, plugin: string, command: (...flags: string[]) => string): void {
  const flags = [
    ...(meant.isUnasked || concerns.some(({ isUnasked }) => isUnasked) ? [UNASKED] : []),
    ...(meant.isInsecure || concerns.some(({ isInsecure }) => isInsecure) ? [INSECURE] : []),
  ];
  for (const { key, isUnasked, isInsecure, hint } of concerns) {
    if (isUnasked && !meant.isUnasked) throw new CreelError("ERR_GRANT_UNASKED", { plugin, key, hint, command: command(...flags) });
    if (isInsecure && !meant.isInsecure)
      throw new CreelError("ERR_GRANT_INSECURE", { key, better: encrypted(key), command: command(...flags) });
  }
}
