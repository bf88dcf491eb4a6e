/** What a hostile cell says to the heap profiler rejects the profile; nothing of it is thrown anywhere else. */
import { describe, expect, it } from "vitest";
import { profileHeap } from "../../../src/host/inspect/heap-profile.ts";
import { InspectSession } from "../../../src/host/inspect/session.ts";

const EMPTY = { snapshot: { meta: { node_fields: ["type", "name", "self_size"], node_types: [["object"], 0] } }, nodes: [], strings: [] };

/** A cell of which the test plays a part: `says` are notifications that come before the answer to a command. */
function played(says: Readonly<Record<string, readonly object[]>>, chunk: unknown = JSON.stringify(EMPTY)): InspectSession {
  const session = new InspectSession();
  session.onMessage((text) => {
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    for (const one of says[method] ?? []) session.send(JSON.stringify(one));
    if (method === "HeapProfiler.takeHeapSnapshot")
      session.send(JSON.stringify({ method: "HeapProfiler.addHeapSnapshotChunk", params: { chunk } }));
    session.send(JSON.stringify({ id, result: { usedSize: 1_000 } }));
  });
  return session;
}

const refused = (what: RegExp): object => ({ code: "ERR_INSPECT_REFUSED", message: expect.stringMatching(what) as string });
const profiled = (session: InspectSession, limitBytes = 10): Promise<unknown> =>
  profileHeap(session, () => new Promise(() => {}), limitBytes);

describe("a heap profile", () => {
  it("is made of what a cell says that keeps to the protocol", async () => {
    await expect(profileHeap(played({}), async () => {}, 10_000)).resolves.toMatchObject({ isCut: false, grew: [] });
  });

  it("is refused when the cell's pause has no call frames", async () => {
    const session = played({ "Debugger.pause": [{ method: "Debugger.paused", params: { callFrames: "none" } }] });
    await expect(profiled(session)).rejects.toMatchObject(refused(/Debugger\.paused is not valid/));
  });

  it.each([
    ["a part of which is no text", 7],
    ["that is no JSON", "{"],
    [
      "whose nodes have no fields, and so no end",
      JSON.stringify({ ...EMPTY, snapshot: { meta: { node_fields: [], node_types: [[], 0] } }, nodes: [1] }),
    ],
    ["whose kinds of nodes are missing", JSON.stringify({ ...EMPTY, snapshot: { meta: { node_fields: ["type"], node_types: [] } } })],
  ])("is refused when its snapshot is one %s", async (_, chunk) => {
    await expect(profiled(played({}, chunk))).rejects.toMatchObject(refused(/is not valid/));
  });
});
