/** The worker of the process floor: frames from the socket, `applySync`, frames to the socket, one write per read. */
import { createServer } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { decoder, encode } from "./frames.ts";
import { isolateWith } from "./isolate.ts";

export interface ProcessOptions {
  /** Unset: texts go back as they came. */
  readonly handler: string | undefined;
  readonly isTimed: boolean;
  readonly path: string;
}

const { handler, isTimed, path } = workerData as ProcessOptions;
const answer = handler === undefined ? (request: string): string => request : applying(handler);

function applying(text: string): (request: string) => string {
  const { apply } = isolateWith(text, isTimed);
  return (request) => {
    const middle = request.indexOf("\n");
    return apply(request.slice(0, middle), request.slice(middle + 1)) ?? "";
  };
}

const server = createServer((socket) => {
  socket.on(
    "data",
    decoder((requests) => {
      socket.write(encode(requests.map(answer)));
    }),
  );
  socket.on("error", () => socket.destroy());
});
server.listen(path, () => parentPort!.postMessage("ready"));
