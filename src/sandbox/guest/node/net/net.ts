/** Inside the isolate: `net`, the client's half, over connections that the host opens. A plugin cannot be a server. */
import { refuse } from "../errors.ts";
import { BlockList } from "./block-list.ts";
import { isIP, isIPv4, isIPv6 } from "./ip.ts";
import { SocketAddress } from "./socket-address.ts";
import { connectArguments, Socket } from "./socket.ts";
import type { SocketOptions } from "./socket.ts";

const SERVER = "a plugin cannot listen; use api.registerGatewayMethod";

/** Callable without `new`, as Node's. */
function Callable(this: unknown, options?: SocketOptions): Socket {
  return Reflect.construct(Socket, [options], new.target ?? Callable) as Socket;
}
Object.defineProperty(Callable, "name", { value: "Socket" });
Callable.prototype = Socket.prototype;
Object.defineProperty(Socket.prototype, "constructor", { value: Callable, writable: true, configurable: true });
Object.setPrototypeOf(Callable, Object.getPrototypeOf(Socket) as object);

function connect(...args: unknown[]): Socket {
  const { options } = connectArguments(args);
  return new Socket(options).connect(...args);
}

let autoSelect = true;
let attemptMs = 250;

export default {
  Socket: Callable,
  Stream: Callable,
  connect,
  createConnection: connect,
  isIP,
  isIPv4,
  isIPv6,
  Server: refuse("net.Server", SERVER),
  createServer: refuse("net.createServer", SERVER),
  BlockList,
  SocketAddress,
  getDefaultAutoSelectFamily: () => autoSelect,
  setDefaultAutoSelectFamily: (value: boolean): void => void (autoSelect = value),
  getDefaultAutoSelectFamilyAttemptTimeout: () => attemptMs,
  setDefaultAutoSelectFamilyAttemptTimeout: (ms: number): void => void (attemptMs = ms),
};
