/**
 * Real NATS servers for tests, on loopback: from CREEL_NATS_SERVER, the package in test/fleet (its binary is inside) or the PATH. `noNats` says
 * why there is none; tests then skip. In CI on Linux x64 that is a failure.
 */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
// oxlint-disable-next-line no-restricted-imports -- the tests make keys of their own.
import { nkeys } from "@nats-io/transport-node";
import type { FleetAccess } from "../../src/fleet/settings.ts";
import { isOlder, OLDEST_SERVER } from "../../src/fleet/nats.ts";
import { accountsConfig } from "../../src/fleet/permissions.ts";
import type { Member, Role } from "../../src/fleet/permissions.ts";
import { hasPackagedNats, packagedNats } from "./nats-package.ts";

const found = findServer();
/** Why there is no server here; undefined: there is one. */
export const noNats: string | undefined = "why" in found ? found.why : undefined;

function findServer(): { path: string } | { why: string } {
  const given = process.env.CREEL_NATS_SERVER;
  const named = given === undefined ? packagedNats() : { path: given };
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((dir) => join(dir, "nats-server"))
    .find((path) => existsSync(path));
  const path = "path" in named ? named.path : onPath;
  if (path === undefined) {
    const why = "why" in named ? named.why : "";
    if (process.env.CI && hasPackagedNats) throw new Error(`there is no nats-server for test/fleet: ${why}`);
    return { why: `there is no nats-server here (${why}); install one, or set CREEL_NATS_SERVER` };
  }
  const version = /v([\d.]+)/.exec(execFileSync(path, ["--version"], { encoding: "utf8" }))?.[1] ?? "0";
  return isOlder(version, OLDEST_SERVER) ? { why: `${path} has version ${version}, and tests need ${OLDEST_SERVER}` } : { path };
}

export interface Keys {
  readonly seed: Uint8Array;
  readonly member: Member;
}

export function keysOf(name: string, role: Role): Keys {
  const pair = nkeys.createUser();
  return { seed: pair.getSeed(), member: { name, role, nkey: pair.getPublicKey() } };
}

/** Paths of a server's certificate and key, and the authority's certificate itself. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

interface Place {
  readonly port: number;
  readonly route: number;
  /** Where it says who leads a log. */
  readonly monitor: number;
  readonly dir: string;
}

/** What a server says about its streams. */
interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly cluster?: { readonly leader?: string } }[];
  }[];
}

/** One server, or a cluster of them. */
export class Nats implements AsyncDisposable {
  readonly #root = mkdtempSync(join(tmpdir(), "creel-nats-"));
  readonly #places: Place[] = [];
  readonly #running: (ChildProcess | undefined)[] = [];
  readonly #accounts: string;
  /** Of every server; none: they speak plainly. */
  readonly #tls: Tls | undefined;

  private constructor(accounts: string, tls?: Tls) {
    this.#accounts = accounts;
    this.#tls = tls;
  }

  static start(accounts: Readonly<Record<string, readonly Keys[]>>, servers = 1, tls?: Tls): Promise<Nats> {
    const members = Object.entries(accounts).map(([name, keys]) => [name, keys.map(({ member }) => member)] as const);
    return Nats.withAccounts(accountsConfig({ accounts: Object.fromEntries(members) }), servers, tls);
  }

  /** `accounts`: as `creel fleet keys` writes it. */
  static async withAccounts(accounts: string, servers: number, tls?: Tls): Promise<Nats> {
    const nats = new Nats(accounts, tls);
    const ports = await freePorts(3 * servers);
    for (let at = 0; at < servers; at++) {
      const [port, route, monitor] = ports.slice(3 * at) as [number, number, number];
      nats.#places.push({ port, route, monitor, dir: join(nats.#root, `s${at}`) });
    }
    await Promise.all(nats.#places.map((_, at) => nats.restart(at)));
    return nats;
  }

  /** With TLS by name: the client cannot check a certificate for an address. */
  get urls(): string[] {
    return this.#places.map(({ port }) => (this.#tls ? `tls://localhost:${port}` : `nats://127.0.0.1:${port}`));
  }

  accessOf({ seed, member }: Keys): FleetAccess {
    return { name: member.name, servers: this.urls, seed, ca: this.#tls?.ca };
  }

  /** On the same port, with the same store. `isPlain`: without its certificate, as after a mistake, or as another server in its place. */
  async restart(at = 0, isPlain = false): Promise<void> {
    const { port, route, monitor, dir } = this.#places[at]!;
    const routes = this.#places.map((place) => `nats://127.0.0.1:${place.route}`).join(", ");
    const cluster = this.#places.length > 1 ? `cluster: { name: fleet, listen: "127.0.0.1:${route}", routes: [${routes}] }\n` : "";
    const tls = this.#tls && !isPlain ? `tls: { cert_file: "${this.#tls.cert}", key_file: "${this.#tls.key}" }\n` : "";
    const file = join(this.#root, `s${at}.conf`);
    writeFileSync(
      file,
      `server_name: s${at}\nlisten: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitor}"\njetstream: { store_dir: "${dir}", max_file: 256M }\n${cluster}${tls}${this.#accounts}`,
    );
    const log = join(this.#root, `s${at}.log`);
    const child = spawn((found as { path: string }).path, ["-c", file, "-l", log], { stdio: "ignore" });
    this.#running[at] = child;
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`nats-server ended: ${readFileSync(log, "utf8")}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  pid(at = 0): number {
    return this.#running[at]!.pid!;
  }

  /** Where a server keeps its streams. */
  storeOf(at = 0): string {
    return this.#places[at]!.dir;
  }

  /** The server that leads this log; undefined: none does now. */
  async leaderOf(log: string): Promise<number | undefined> {
    for (const [at, { monitor }] of this.#places.entries()) {
      if (this.#running[at] === undefined) continue;
      const response = await fetch(`http://127.0.0.1:${monitor}/jsz?accounts=1&streams=1`).catch(() => undefined);
      const said = (await response?.json().catch(() => undefined)) as Jsz | undefined;
      for (const { stream_detail: streams = [] } of said?.account_details ?? [])
        for (const { name, cluster } of streams) if (name === log && cluster?.leader) return Number(cluster.leader.slice(1));
    }
    return undefined;
  }

  async kill(at = 0): Promise<void> {
    const child = this.#running[at];
    this.#running[at] = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const at of this.#places.keys()) await this.kill(at);
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** Greets as Debian's nats-server 2.9.10 does. */
export async function oldServer(port = 0): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    const info = { server_id: "x", server_name: "old", version: "2.9.10", go: "go1", host: "127.0.0.1", port: 0, max_payload: 1_048_576 };
    socket.write(`INFO ${JSON.stringify({ ...info, proto: 1, client_id: 1, headers: true, nonce: "abc" })}\r\n`);
    socket.on("data", () => socket.write("PONG\r\n"));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** All at once, so that no two are the same. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** It greets every client. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("data", () => done(true));
    socket.once("error", () => done(false));
    socket.once("close", () => done(false));
  });
}
