/**
 * Trusted side: what an error of a namespace wrapper means. The kernel reports a forbidden user namespace as a full
 * disk, an invalid argument or a lack of permission. Operators need the cause, and the setting to change.
 */

export interface Meaning {
  readonly why: string;
  readonly fix: string;
}

const DOCKER = "in Docker, start the container with a seccomp profile that allows unshare and clone (--security-opt seccomp=<profile>)";

const MEANINGS: readonly { readonly said: RegExp; readonly meaning: Meaning }[] = [
  {
    said: /(?:unshare|clone|namespace)\b.*no space left on device/i,
    meaning: {
      why: "the limit on user namespaces is 0 or exhausted",
      fix: "raise the limit: sysctl -w user.max_user_namespaces=15000",
    },
  },
  {
    said: /uid_?\s?map|uid map/i,
    meaning: {
      why: "a security module (AppArmor on Ubuntu) removes all privileges inside a user namespace",
      fix: "run sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap or unshare an AppArmor profile that allows userns",
    },
  },
  {
    said: /(?:unshare|clone|namespace)\b.*(?:operation not permitted|permission denied|does not allow)|no permissions? to create/i,
    meaning: {
      why: "this user may not create user namespaces: a kernel setting or the container's seccomp profile forbids it",
      fix: `run sysctl -w kernel.unprivileged_userns_clone=1 where that setting exists; ${DOCKER}`,
    },
  },
  {
    said: /(?:unshare|clone|namespace)\b.*(?:invalid argument|function not implemented|not supported)/i,
    meaning: { why: "this kernel was built without user namespaces", fix: "use a kernel with CONFIG_USER_NS" },
  },
  {
    said: /\bmount\b.*(?:operation not permitted|permission denied|must be superuser)/i,
    meaning: {
      why: "user namespaces work, but mounting inside them is forbidden by the container's seccomp or AppArmor profile",
      fix: `allow mount; ${DOCKER}`,
    },
  },
];

/** Undefined: the error is not known. */
export function meaningOf(said: string): Meaning | undefined {
  return MEANINGS.find((one) => one.said.test(said))?.meaning;
}
