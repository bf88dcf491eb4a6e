/**
 * Trusted side: the two programs that can put a process behind kernel walls without any privilege: bubblewrap, and,
 * where it is missing, unshare with a few more tools of util-linux. Either gives the process its own user, network,
 * process, ipc and host name namespaces, and a root folder that holds only what the process has to read, read-only.
 * Either forks twice. Neither is asked to die with its parent: bubblewrap, if its parent dies at the wrong moment of
 * its start, would wait for ever. They are killed as a group, and when the gateway dies, Node notices and exits.
 * `timeout`, without a time, makes the group: Node itself can only make a session, which the scheduler treats as a
 * group of its own, and on a busy machine that made calls 1.6 times as slow.
 */
import { isInside } from "./sandbox-files.ts";
import type { Visible } from "./sandbox-files.ts";

export const WRAPPERS = ["bwrap", "unshare"] as const;
export type Wrapper = (typeof WRAPPERS)[number];

/** The tools that each of them needs. */
export const WRAPPER_TOOLS = {
  bwrap: ["timeout", "bwrap"],
  unshare: ["timeout", "unshare", "sh", "mount", "mkdir", "ln", "setpriv"],
} as const satisfies Record<Wrapper, readonly string[]>;
export type Tool = (typeof WRAPPER_TOOLS)[Wrapper][number] | "prlimit";
export type Tools = Readonly<Partial<Record<Tool, string>>>;

/**
 * From the process that is spawned down to Node: the leader of the group, the wrapper, the first process of the
 * namespace.
 */
export const WRAPPER_PROCESSES = 3;

/** A command line. The command to run behind the wrapper follows it. */
export function wrapperCommand(wrapper: Wrapper, tools: Tools, visible: Visible, home: string): string[] {
  const args = wrapper === "bwrap" ? bwrapArgs(visible, home) : unshareArgs(tools, visible, home);
  return [tools.timeout!, "0", tools[wrapper]!, ...args];
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

/** The only device: without it libuv opens the root folder instead. */
const NOWHERE = "/dev/null";

/** Mount points for the new root: they exist on most systems, and are hidden from the sandbox anyway. */
const ROOTS = ["/mnt", "/media", "/srv", "/opt", "/home", "/root", "/var", "/tmp"] as const;

function unshareArgs(tools: Tools, visible: Visible, home: string): string[] {
  const namespaces = ["--user", "--map-root-user", "--net", "--pid", "--ipc", "--uts", "--mount", "--fork"];
  return [...namespaces, "--", tools.sh!, "-c", setUp(tools, visible, home), "sh"];
}

/**
 * The shell is the first process of the namespace and stays: the kernel would ignore signals from inside if Node were
 * the first. The shell is root of a namespace in which root means little, until setpriv drops even that.
 */
function setUp(tools: Tools, { folders, files, links }: Visible, home: string): string {
  // The new root hides what is below its mount point.
  const root = ROOTS.find((place) => ![...folders, ...files].some((path) => path === place || isInside(path, place)));
  if (root === undefined) return "echo 'no free mount point for a root folder' >&2; exit 1";
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
    // A container that hides parts of /proc does not let us mount our own. The sandbox can do without.
    `${mount} -n -t proc -o ro,nosuid,nodev,noexec proc ${root}/proc || :`,
    `${mount} -n -o remount,bind,ro ${root}`,
    "unset PWD OLDPWD SHLVL",
    `${unshare} --root=${root} --wd=${quote(home)} ${quote(setpriv)} --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`,
  ].join("\n");
}

/** One word of a shell command. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** One word of a mount table, with separators escaped in octal. */
function escape(path: string): string {
  return path.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
