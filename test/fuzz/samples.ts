/** Real frames of a lane, one of each kind and a few more: what fuzzers begin with. */
import { pack } from "../../src/transport/frames.ts";
import { STEP_STATUSES, writeReply } from "../../src/transport/call-frames.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/messages/host-lane.ts";

const REGISTRATION = JSON.stringify({
  handlers: [
    { hook: "before_tool_call", options: { priority: 5, matcher: ["exec"] }, sees: 1 },
    { hook: "message_sending", options: {} },
  ],
  unknownMembers: [{ member: "registerX", as: "inert" }],
});
const ERROR = JSON.stringify({
  code: "ERR_CALL_CPU",
  name: "Error",
  message: "too long",
  stack: "Error: too long\n    at x (plugin.js:1:2)",
});

/** `run` and `cell` are numbers that mean something to the host. */
export function laneFrames(run: number, cell: number): string[] {
  const reply = (isLast: boolean, status: number, body: string): string =>
    writeReply(run, isLast, [{ step: 0, status: STEP_STATUSES[status]!, wallUs: 120, cpuUs: 80, body }]);
  return [
    pack({ kind: "ready", version: PROTOCOL_VERSION }),
    pack({ kind: "opened", cell, ok: true, loadMs: 1.5 }, REGISTRATION),
    pack({ kind: "opened", cell, ok: false, loadMs: 1.5 }, ERROR),
    pack({ kind: "log", cell, level: "info", run: 1 }, "a line"),
    pack({ kind: "fault", cell }, ERROR),
    pack({ kind: "spent", cell, us: 12_345, heldUs: 1_000, ownUs: 500 }),
    pack({ kind: "volume", cell }),
    ...["kv.get", "kv.list", "fetch", "session.get", "session.patch", "schedule.create", "touched", "update"].map((service, ask) =>
      pack(
        { kind: "request", cell, request: ask, run: 1 },
        service,
        JSON.stringify({ key: "k", url: "https://x.example/", method: "GET", limit: 10 }),
      ),
    ),
    reply(true, 0, JSON.stringify({ params: { n: 1 }, block: false })),
    reply(true, 0, JSON.stringify({ requireApproval: { title: "ok?", description: "", onResolution: 1 } })),
    reply(true, 0, JSON.stringify({ block: true, blockReason: "no" })),
    reply(false, 0, ""),
    reply(true, 1, ERROR),
    reply(true, 3, ERROR),
  ];
}
