/**
 * Floor for process isolation: a child whose worker thread serves a unix socket and runs `applySync`. One hop, caller to
 * thread: the child's main thread is not on the way. As bare as the thread floor otherwise.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import type { Served } from "../traffic.ts";
import { decoder, encode } from "./frames.ts";
import type { ProcessOptions } from "./process-worker.ts";

export async function processFloor(work: Work, { timed = true } = {}): Promise<Served> {
  const { socket, close, pid } = await started(work.handler, timed);
  const waiting: ((result: unknown) => void)[] = [];
  let settled = 0;
  socket.on(
    "data",
    decoder((texts) => {
      for (const text of texts) waiting[settled++]!(text === "" ? undefined : JSON.parse(text));
      if (settled === waiting.length) {
        waiting.length = 0;
        settled = 0;
      }
    }),
  );
  let outbox: string[] = [];
  const flush = (): void => {
    socket.write(encode(outbox));
    outbox = [];
  };
  const call = (at: number): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      // JSON has no raw newline, so one can stand between the two.
      if (outbox.push(`${JSON.stringify(eventAt(work, at))}\n${JSON.stringify(work.context)}`) === 1) queueMicrotask(flush);
    });
  return { ...contestant(`floor: socket + applySync${timed ? "" : ", no timeout"}`, call, close), pids: () => [pid] };
}

/** A text to a child's worker thread and back, and nothing else. */
export async function socketEcho(work: Work): Promise<Contestant> {
  const { socket, pid, close } = await started(undefined, false);
  const texts = work.events.map((event) => JSON.stringify(event));
  const waiting: ((text: string) => void)[] = [];
  socket.on(
    "data",
    decoder((answers) => {
      for (const answer of answers) waiting.shift()!(answer);
    }),
  );
  const call = (at: number): Promise<string> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      socket.write(encode([texts[at % texts.length]!]));
    });
  return { ...contestant("floor: unix-socket echo", call, close), pids: () => [pid] };
}

async function started(
  handler: string | undefined,
  isTimed: boolean,
): Promise<{ socket: Socket; pid: number; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "creel-bench-"));
  const path = join(folder, "floor.sock");
  const child = fork(new URL("./process-child.ts", import.meta.url));
  child.send({ handler, isTimed, path } satisfies ProcessOptions);
  await once(child, "message");
  const socket = connect(path);
  await once(socket, "connect");
  return {
    socket,
    pid: child.pid!,
    async close() {
      socket.destroy();
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
