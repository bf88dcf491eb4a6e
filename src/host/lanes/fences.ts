/**
 * Trusted side: the two programs that can put a process behind walls of the Linux kernel without any right of their own: bubblewrap,
 * and, where it is missing, unshare with a few more tools of util-linux. Either gives the process user, network, process, ipc and
 * host name namespaces of its own, and a root folder in which there is only what it has to read, all of it read-only. Either forks
 * twice. Neither is asked to die with its parent: bubblewrap, struck at the wrong moment of its start, would wait for it for ever.
 * They are killed as a group, and when the gateway dies Node notices and leaves. The group is made by `timeout`, without a time:
 * Node itself can only make a session, and a session is a party of its own to the scheduler, which on a busy machine made calls 1.6 times as slow.
 */
import { isInside } from "./sandbox-files.ts";
import type { Visible } from "./sandbox-files.ts";

export const FENCES = ["bwrap", "unshare"] as const;
export type Fence = (typeof FENCES)[number];

/** What each of them needs. */
export const FENCE_TOOLS = {
  bwrap: ["timeout", "bwrap"],
  unshare: ["timeout", "unshare", "sh", "mount", "mkdir", "ln", "setpriv"],
} as const satisfies Record<Fence, readonly string[]>;
export type Tool = (typeof FENCE_TOOLS)[Fence][number] | "prlimit";
export type Tools = Readonly<Partial<Record<Tool, string>>>;

/** From the process that is spawned down to Node: the leader of the group, the fence, the first process of the namespace. */
export const FENCE_PROCESSES = 3;

/** A command line; what shall run behind the fence follows. */
export function fenceCommand(fence: Fence, tools: Tools, visible: Visible, home: string): string[] {
  const args = fence === "bwrap" ? bwrapArgs(visible, home) : unshareArgs(tools, visible, home);
  return [tools.timeout!, "0", tools[fence]!, ...args];
}

function bwrapArgs({ folders, files, links }: Visible, home: string): string[] {
  return [
    "--unshare-user",
    "--unshare-net",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    ...[...folders, ...files].flatMap((path) => ["--ro-bind", path, path]),
    ...links.flatMap(([path, target]) => ["--symlink", target, path]),
    "--dev-bind",
    NOWHERE,
    NOWHERE,
    "--proc",
    "/proc",
    "--remount-ro",
    "/",
    "--chdir",
    home,
    "--",
  ];
}

/** The one device: without it libuv opens the root folder instead. */
const NOWHERE = "/dev/null";

/** Places for the new root: there on most systems, and hidden from the sandbox anyway. */
const ROOTS = ["/mnt", "/media", "/srv", "/opt", "/home", "/root", "/var", "/tmp"] as const;

function unshareArgs(tools: Tools, visible: Visible, home: string): string[] {
  const namespaces = ["--user", "--map-root-user", "--net", "--pid", "--ipc", "--uts", "--mount", "--fork"];
  return [...namespaces, "--", tools.sh!, "-c", setUp(tools, visible, home), "sh"];
}

/**
 * The shell is the first process of the namespace and stays: as the first, Node could not be killed from inside. It is root in a
 * namespace where that means little, until setpriv has taken even that away.
 */
function setUp(tools: Tools, { folders, files, links }: Visible, home: string): string {
  // What is below the new root's place is hidden as soon as it is there.
  const root = ROOTS.find((place) => ![...folders, ...files].some((path) => path === place || isInside(path, place)));
  if (root === undefined) return "echo 'there is no place for a root folder' >&2; exit 1";
  const setpriv = tools.setpriv!;
  const single = [...files, ...(folders.some((folder) => isInside(setpriv, folder)) ? [] : [setpriv])];
  const parents = [NOWHERE, ...single, ...links.map(([path]) => path)].map((path) => path.slice(0, path.lastIndexOf("/")));
  const [mount, mkdir, ln, unshare] = [tools.mount!, tools.mkdir!, tools.ln!, tools.unshare!].map(quote);
  const entry = (path: string, flags: string): string => `${escape(path)} ${escape(root + path)} none bind,nosuid,${flags} 0 0\n`;
  const table = [entry(NOWHERE, "noexec"), ...[...folders, ...single].map((path) => entry(path, "ro,nodev"))].join("");
  return [
    "set -e",
    "umask 022",
    `${mount} -n -t tmpfs -o size=1m,mode=755,nosuid,nodev tmpfs ${root}`,
    `${mkdir} -p ${[...folders, ...parents, "/proc"].map((path) => quote(root + path)).join(" ")}`,
    ...[NOWHERE, ...single].map((path) => `: > ${quote(root + path)}`),
    ...links.map(([path, target]) => `${ln} -s ${quote(target)} ${quote(root + path)}`),
    `printf %s ${quote(table)} > ${root}/.mounts`,
    `${mount} -n -a -T ${root}/.mounts`,
    // A container may hide parts of /proc, and then does not let us have our own. The sandbox can do without.
    `${mount} -n -t proc -o ro,nosuid,nodev,noexec proc ${root}/proc || :`,
    `${mount} -n -o remount,bind,ro ${root}`,
    "unset PWD OLDPWD SHLVL",
    `${unshare} --root=${root} --wd=${quote(home)} ${quote(setpriv)} --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`,
  ].join("\n");
}

/** As one word of the shell's. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** As one word of a table of mounts: what separates words there is written as its number. */
function escape(path: string): string {
  return path.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
