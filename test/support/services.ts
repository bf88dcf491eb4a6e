/**
 * Real servers for tests: PostgreSQL, Redis, NATS and MariaDB, each started on loopback in a temporary folder, as a user
 * without rights where the tests run as root. A program that this machine does not have is installed where that is
 * possible (root, apt); otherwise the tests that need it are skipped, with a sentence. In CI on Linux x64 that is a failure.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packagedNats } from "./nats-package.ts";

export interface Service {
  readonly port: number;
  stop(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
const isDemanded = Boolean(process.env["CI"]) && process.platform === "linux" && process.arch === "x64";

/** The path of a program; undefined: there is none, and one line said so. */
function program(name: string, apt: string, folders: () => readonly string[] = () => []): string | undefined {
  const find = (): string | undefined =>
    [...folders(), ...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"]
      .map((folder) => join(folder, name))
      .find((path) => existsSync(path));
  const found = find();
  if (found !== undefined) return found;
  if (isRoot && existsSync("/usr/bin/apt-get") && !aptInstalls(apt)) {
    // A fresh image has no lists of packages.
    aptGet("update");
    aptInstalls(apt);
  }
  const installed = find();
  if (installed === undefined) {
    const why = `this machine has none, and apt does not install ${apt} here`;
    if (isDemanded) throw new Error(`tests need ${name}, and CI must not skip them: ${why}`);
    process.stderr.write(`tests that need ${name} are skipped: ${why}\n`);
  }
  return installed;
}

function aptInstalls(name: string): boolean {
  return aptGet("install", "-y", "--no-install-recommends", name);
}

function aptGet(...args: readonly string[]): boolean {
  // Two files of tests may install at the same time.
  const { status } = spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
    timeout: 180_000,
  });
  return status === 0;
}

function debianFolders(root: string): () => readonly string[] {
  return () => (existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : []);
}

/** PostgreSQL and MariaDB refuse to run as root. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (!isRoot) return {};
  const [, , uid = "65534", gid = "65534"] = (spawnSync("getent", ["passwd", "nobody"], { encoding: "utf8" }).stdout ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "creel-service-"));
  const { uid, gid } = unprivileged();
  await chmod(folder, 0o700);
  if (uid !== undefined) await chown(folder, uid, gid!);
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function started(
  path: string,
  args: readonly string[],
  port: number,
  folder: string,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<Service> {
  const child: ChildProcess = spawn(path, args, {
    cwd: folder,
    stdio: "ignore",
    env: { PATH: process.env["PATH"]!, LC_ALL: "C" },
    ...unprivileged(),
  });
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill(signal);
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (child.exitCode !== null || tries > 600) {
      await stop();
      throw new Error(`${path} did not start`);
    }
    await sleep(50);
  }
  return { port, stop };
}

/** With the database and user `postgres`, whose password is `creel secret`. */
export async function startPostgres(): Promise<Service | undefined> {
  const initdb = program("initdb", "postgresql", debianFolders("/usr/lib/postgresql"));
  if (initdb === undefined) return undefined;
  const folder = await ownFolder();
  const port = await freePort();
  execFileSync(
    "sh",
    ["-c", `echo 'creel secret' > pw && "${initdb}" -D data -U postgres --pwfile=pw --auth=scram-sha-256 --no-sync -E UTF8 --locale=C`],
    {
      cwd: folder,
      stdio: "ignore",
      ...unprivileged(),
    },
  );
  const settings = [
    "fsync=off",
    "shared_buffers=1MB",
    "max_connections=20",
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
  ];
  return started(
    join(initdb, "../postgres"),
    ["-D", join(folder, "data"), "-p", String(port), ...settings.flatMap((one) => ["-c", one])],
    port,
    folder,
    // At once: clients may hold connections.
    "SIGINT",
  );
}

export async function startRedis(): Promise<Service | undefined> {
  const path = program("redis-server", "redis-server");
  if (path === undefined) return undefined;
  const folder = await ownFolder();
  const port = await freePort();
  return started(path, ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder], port, folder);
}

export async function startNats(): Promise<Service | undefined> {
  const packaged = packagedNats();
  const path = "path" in packaged ? packaged.path : program("nats-server", "nats-server");
  if (path === undefined) return undefined;
  const port = await freePort();
  return started(path, ["-a", "127.0.0.1", "-p", String(port)], port, await ownFolder());
}

/** With the user `creel`, whose password is `creel secret`, and the database `test`. */
export async function startMariadb(): Promise<Service | undefined> {
  // The server alone: 7 MB to download, where mariadb-server has half a gigabyte.
  const path = program("mariadbd", "mariadb-server-core");
  if (path === undefined) return undefined;
  const folder = await ownFolder();
  const port = await freePort();
  const data = join(folder, "data");
  const common = ["--no-defaults", `--datadir=${data}`, "--innodb-buffer-pool-size=8M", "--innodb-flush-log-at-trx-commit=0"];
  // What mariadb-install-db does, which needs programs of the clients' package.
  const tables = ["system_tables", "performance_tables", "system_tables_data"].map((name) =>
    readFileSync(join("/usr/share/mysql", `mysql_${name}.sql`), "utf8"),
  );
  const input = [
    `CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n`,
    ...tables,
    `FLUSH PRIVILEGES;\nCREATE DATABASE test;\nCREATE USER creel@'%' IDENTIFIED BY 'creel secret';\nGRANT ALL ON test.* TO creel@'%';\n`,
  ].join("\n");
  const env = { PATH: process.env["PATH"]!, LC_ALL: "C" };
  execFileSync("sh", ["-c", 'mkdir "$1" && shift && exec "$@"', "sh", data, path, ...common, "--bootstrap", "--skip-networking"], {
    cwd: folder,
    input,
    stdio: ["pipe", "ignore", "ignore"],
    env,
    ...unprivileged(),
  });
  return started(
    path,
    [...common, `--port=${port}`, "--bind-address=127.0.0.1", `--socket=${folder}/s`, "--skip-name-resolve"],
    port,
    folder,
  );
}
