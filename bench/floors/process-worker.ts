/** The worker of the process floor: frames from the socket, `applySync`, frames to the socket, one write per read. */
import { createServer } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { decoder, encode } from "./frames.ts";
import { isolateWith } from "./isolate.ts";

export interface ProcessOptions {
  readonly handler: string;
  readonly isTimed: boolean;
  readonly path: string;
}

const { handler, isTimed, path } = workerData as ProcessOptions;
const { apply } = isolateWith(handler, isTimed);

const server = createServer((socket) => {
  socket.on(
    "data",
    decoder((requests) => {
      socket.write(
        encode(
          requests.map((request) => {
            const middle = request.indexOf("\n");
            return apply(request.slice(0, middle), request.slice(middle + 1)) ?? "";
          }),
        ),
      );
    }),
  );
  socket.on("error", () => socket.destroy());
});
server.listen(path, () => parentPort!.postMessage("ready"));
