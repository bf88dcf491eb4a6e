/**
 * A real PostgreSQL for tests: from CREEL_POSTGRES_BIN, the PATH or Debian's folder, in a temporary folder, on loopback, and never as root.
 * `postgresBin` is undefined where there is none; tests then skip. In CI on Linux x64 that is a failure.
 */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
// oxlint-disable-next-line no-restricted-imports -- it asks the server whether it is ready.
import postgres from "postgres";

export const postgresBin: string | undefined = [
  process.env.CREEL_POSTGRES_BIN ?? "",
  ...(process.env.PATH ?? "").split(delimiter),
  ...debianFolders(),
].find((dir) => dir !== "" && existsSync(join(dir, "postgres")) && existsSync(join(dir, "initdb")));

// CI on Linux x64 has one: there, tests that skip would hide that it is missing.
if (postgresBin === undefined && process.env.CI && process.platform === "linux" && process.arch === "x64")
  throw new Error("there is no PostgreSQL for the tests: install Debian's postgresql, or set CREEL_POSTGRES_BIN");

function debianFolders(): string[] {
  const root = "/usr/lib/postgresql";
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : [];
}

/** The server refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: idOfNobody("-u"), gid: idOfNobody("-g") };
}

function idOfNobody(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
}

export class Postgres implements AsyncDisposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "creel-pg-"));
  readonly #user = unprivileged();
  readonly #password = randomBytes(12).toString("hex");
  #port = 0;
  #server: ChildProcess | undefined;

  static async start(): Promise<Postgres> {
    const server = new Postgres();
    const { uid, gid } = server.#user ?? {};
    const passwords = join(server.#dir, "password");
    writeFileSync(passwords, server.#password, { mode: 0o600 });
    if (uid !== undefined) for (const path of [server.#dir, passwords]) chownSync(path, uid, gid!);
    const args = ["-D", server.#data, "-U", "creel", "-E", "SQL_ASCII", "--locale=C", "--auth=scram-sha-256", "--no-sync"];
    execFileSync(join(postgresBin!, "initdb"), [...args, `--pwfile=${passwords}`], {
      stdio: "ignore",
      cwd: server.#dir,
      env: { PATH: process.env.PATH },
      ...server.#user,
    });
    server.#port = await freePort();
    await server.restart();
    return server;
  }

  get url(): string {
    return this.urlOf("creel", this.#password);
  }

  urlOf(user: string, password: string): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.#port}/postgres`;
  }

  async restart(): Promise<void> {
    const settings = { port: this.#port, listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    this.#server = spawn(join(postgresBin!, "postgres"), ["-D", this.#data, ...args], {
      stdio: "ignore",
      cwd: this.#dir,
      env: { PATH: process.env.PATH },
      ...this.#user,
    });
    while (!(await answers(this.url))) {
      if (this.#server.exitCode !== null) throw new Error(`postgres ended with ${this.#server.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** To all of its processes: each connection has one, in a group of its own. */
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    const { pid } = this.#server!;
    // It starts no other one meanwhile.
    process.kill(pid!, "SIGSTOP");
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
      .trim()
      .split(/\s+/)
      .map(Number);
    for (const child of children) process.kill(child, signal);
    process.kill(pid!, signal);
  }

  async kill(): Promise<void> {
    const server = this.#server!;
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    this.signal("SIGKILL");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  get #data(): string {
    return join(this.#dir, "data");
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** It listens before it answers. */
async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1 });
  try {
    await sql`SELECT 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 0 });
  }
}
