/** Connections of a plugin: `net`, `tls` and `dns`, for hosts and ports of its connect grants. See guest.d.ts. */

declare module "net" {
  import { Duplex } from "stream";
  export interface SocketOptions {
    allowHalfOpen?: boolean;
    highWaterMark?: number;
    signal?: AbortSignal;
  }
  export interface ConnectOptions extends SocketOptions {
    host?: string;
    port: number;
    timeout?: number;
  }
  export class Socket extends Duplex {
    constructor(options?: SocketOptions);
    readonly connecting: boolean;
    readonly pending: boolean;
    readonly readyState: string;
    readonly bytesRead: number;
    readonly bytesWritten: number;
    readonly remoteAddress: string | undefined;
    readonly remotePort: number | undefined;
    readonly remoteFamily: string | undefined;
    timeout: number;
    connect(options: ConnectOptions, callback?: () => void): this;
    connect(port: number, host?: string, callback?: () => void): this;
    connect(port: number, callback?: () => void): this;
    setTimeout(ms: number, callback?: () => void): this;
    setNoDelay(on?: boolean): this;
    setKeepAlive(on?: boolean, ms?: number): this;
    destroySoon(): void;
    resetAndDestroy(): this;
    address(): object;
    ref(): this;
    unref(): this;
  }
  export { Socket as Stream };
  export function connect(options: ConnectOptions, callback?: () => void): Socket;
  export function connect(port: number, host?: string, callback?: () => void): Socket;
  export { connect as createConnection };
  export function isIP(text: string): 0 | 4 | 6;
  export function isIPv4(text: string): boolean;
  export function isIPv6(text: string): boolean;
  export function getDefaultAutoSelectFamily(): boolean;
  export function setDefaultAutoSelectFamily(value: boolean): void;
  export function getDefaultAutoSelectFamilyAttemptTimeout(): number;
  export function setDefaultAutoSelectFamilyAttemptTimeout(ms: number): void;
}

declare module "tls" {
  import { Socket, SocketOptions } from "net";
  /** The host verifies every certificate with the gateway's authorities. Options that would weaken that have no effect. */
  export interface ConnectionOptions extends SocketOptions {
    host?: string;
    port?: number;
    /** A connection that has been plain becomes a TLS connection. */
    socket?: Socket;
    servername?: string;
    ALPNProtocols?: readonly string[] | Uint8Array;
    timeout?: number;
    [option: string]: unknown;
  }
  export class TLSSocket extends Socket {
    constructor(socket?: Socket, options?: ConnectionOptions);
    readonly encrypted: true;
    readonly authorized: boolean;
    readonly authorizationError: Error | null;
    readonly alpnProtocol: string | false | null;
    readonly servername: string | false | undefined;
    getProtocol(): string | null;
    getCipher(): object;
    getPeerCertificate(): object;
  }
  export function connect(options: ConnectionOptions, callback?: () => void): TLSSocket;
  export function connect(port: number, host?: string, options?: ConnectionOptions, callback?: () => void): TLSSocket;
  export function createSecureContext(options?: object): object;
  export { createSecureContext as SecureContext };
  export function checkServerIdentity(hostname: string, certificate: object): Error | undefined;
  export function getCiphers(): string[];
  export function getCACertificates(): string[];
  export function convertALPNProtocols(protocols: unknown, out: { ALPNProtocols?: unknown }): void;
  export const rootCertificates: readonly string[];
  export const DEFAULT_ECDH_CURVE: string;
  export const DEFAULT_MIN_VERSION: string;
  export const DEFAULT_MAX_VERSION: string;
  export const DEFAULT_CIPHERS: string;
  export const CLIENT_RENEG_LIMIT: number;
  export const CLIENT_RENEG_WINDOW: number;
}

declare module "dns/promises" {
  export interface LookupAddress {
    address: string;
    family: number;
  }
  export function lookup(hostname: string, options?: number | { family?: number | string; all?: false }): Promise<LookupAddress>;
  export function lookup(hostname: string, options: { family?: number | string; all: true }): Promise<LookupAddress[]>;
  export function resolve(hostname: string, type?: string): Promise<unknown>;
  export function resolve4(hostname: string): Promise<string[]>;
  export function resolve6(hostname: string): Promise<string[]>;
  /** The host asks for addresses only: these reject with `ENOTIMP`. */
  export function resolveAny(hostname: string): Promise<never>;
  export function resolveCaa(hostname: string): Promise<never>;
  export function resolveCname(hostname: string): Promise<never>;
  export function resolveMx(hostname: string): Promise<never>;
  export function resolveNaptr(hostname: string): Promise<never>;
  export function resolveNs(hostname: string): Promise<never>;
  export function resolvePtr(hostname: string): Promise<never>;
  export function resolveSoa(hostname: string): Promise<never>;
  export function resolveSrv(hostname: string): Promise<never>;
  export function resolveTlsa(hostname: string): Promise<never>;
  export function resolveTxt(hostname: string): Promise<never>;
  export function reverse(hostname: string): Promise<never>;
  export function getServers(): string[];
  export function setServers(servers: readonly string[]): void;
  export function getDefaultResultOrder(): string;
  export function setDefaultResultOrder(order: string): void;
  export class Resolver {
    cancel(): void;
  }
  export const NODATA: string;
  export const FORMERR: string;
  export const SERVFAIL: string;
  export const NOTFOUND: string;
  export const NOTIMP: string;
  export const REFUSED: string;
  export const BADQUERY: string;
  export const BADNAME: string;
  export const BADFAMILY: string;
  export const BADRESP: string;
  export const CONNREFUSED: string;
  export const TIMEOUT: string;
  export const EOF: string;
  export const FILE: string;
  export const NOMEM: string;
  export const DESTRUCTION: string;
  export const BADSTR: string;
  export const BADFLAGS: string;
  export const NONAME: string;
  export const BADHINTS: string;
  export const NOTINITIALIZED: string;
  export const LOADIPHLPAPI: string;
  export const ADDRGETNETWORKPARAMS: string;
  export const CANCELLED: string;
}

declare module "dns" {
  export * as promises from "dns/promises";
  type Done<T> = (error: Error | null, value: T) => void;
  export function lookup(hostname: string, callback: (error: Error | null, address: string, family: number) => void): void;
  export function lookup(
    hostname: string,
    options: number | { family?: number | string; all?: boolean },
    callback: (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void,
  ): void;
  export function resolve(hostname: string, callback: Done<string[]>): void;
  export function resolve4(hostname: string, callback: Done<string[]>): void;
  export function resolve6(hostname: string, callback: Done<string[]>): void;
  export function resolveAny(hostname: string, callback: Done<never>): void;
  export function resolveCaa(hostname: string, callback: Done<never>): void;
  export function resolveCname(hostname: string, callback: Done<never>): void;
  export function resolveMx(hostname: string, callback: Done<never>): void;
  export function resolveNaptr(hostname: string, callback: Done<never>): void;
  export function resolveNs(hostname: string, callback: Done<never>): void;
  export function resolvePtr(hostname: string, callback: Done<never>): void;
  export function resolveSoa(hostname: string, callback: Done<never>): void;
  export function resolveSrv(hostname: string, callback: Done<never>): void;
  export function resolveTlsa(hostname: string, callback: Done<never>): void;
  export function resolveTxt(hostname: string, callback: Done<never>): void;
  export function reverse(hostname: string, callback: Done<never>): void;
  export function getServers(): string[];
  export function setServers(servers: readonly string[]): void;
  export function getDefaultResultOrder(): string;
  export function setDefaultResultOrder(order: string): void;
  export class Resolver {
    cancel(): void;
  }
  export const ADDRCONFIG: number;
  export const ALL: number;
  export const V4MAPPED: number;
  export const NODATA: string;
  export const FORMERR: string;
  export const SERVFAIL: string;
  export const NOTFOUND: string;
  export const NOTIMP: string;
  export const REFUSED: string;
  export const BADQUERY: string;
  export const BADNAME: string;
  export const BADFAMILY: string;
  export const BADRESP: string;
  export const CONNREFUSED: string;
  export const TIMEOUT: string;
  export const EOF: string;
  export const FILE: string;
  export const NOMEM: string;
  export const DESTRUCTION: string;
  export const BADSTR: string;
  export const BADFLAGS: string;
  export const NONAME: string;
  export const BADHINTS: string;
  export const NOTINITIALIZED: string;
  export const LOADIPHLPAPI: string;
  export const ADDRGETNETWORKPARAMS: string;
  export const CANCELLED: string;
}

declare module "node:net" {
  export * from "net";
}

declare module "node:tls" {
  export * from "tls";
}

declare module "node:dns" {
  export * from "dns";
}

declare module "node:dns/promises" {
  export * from "dns/promises";
}
