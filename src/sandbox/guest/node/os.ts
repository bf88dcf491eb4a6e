/** Inside the isolate: `os`. It reveals nothing about the machine but its platform and architecture. */
import { world } from "../boot/world.ts";
import { HOME } from "../../../protocol/messages/files.ts";
import { ERRNO, SIGNALS } from "./os-constants.ts";

const TYPES: Record<string, string> = { linux: "Linux", darwin: "Darwin", win32: "Windows_NT", freebsd: "FreeBSD" };
const MACHINES: Record<string, string> = { x64: "x86_64", ia32: "i686", arm64: "aarch64" };

const cpus = () => [{ model: "sandbox", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }];

export default {
  EOL: "\n",
  devNull: "/dev/null",
  constants: {
    UV_UDP_REUSEADDR: 4,
    dlopen: {},
    errno: { __proto__: null, ...ERRNO },
    signals: { __proto__: null, ...SIGNALS },
    priority: {
      __proto__: null,
      PRIORITY_LOW: 19,
      PRIORITY_BELOW_NORMAL: 10,
      PRIORITY_NORMAL: 0,
      PRIORITY_ABOVE_NORMAL: -7,
      PRIORITY_HIGH: -14,
      PRIORITY_HIGHEST: -20,
    },
  },
  arch: () => world.arch,
  platform: () => world.platform,
  type: () => TYPES[world.platform] ?? world.platform,
  machine: () => MACHINES[world.arch] ?? world.arch,
  release: () => "0.0.0",
  version: () => "sandbox",
  hostname: () => "sandbox",
  homedir: () => HOME,
  tmpdir: () => "/tmp",
  endianness: () => "LE" as const,
  cpus,
  availableParallelism: () => 1,
  loadavg: () => [0, 0, 0],
  networkInterfaces: () => ({}),
  userInfo: (options?: { encoding?: unknown }) => {
    void options;
    return { uid: 1000, gid: 1000, username: "plugin", homedir: HOME, shell: null };
  },
};
