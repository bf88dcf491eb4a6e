/**
 * Bundler child process, entry: makes one bundle after another on request. No plugin code runs here, but a native
 * parser reads its text and may crash, which is why this process exists. It exits when its pipe closes.
 */
import { Socket } from "node:net";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorParams } from "../../protocol/errors.ts";
import { pack, unpack } from "../../transport/frames.ts";
import { CONTROL_FD } from "../../transport/inherited-fds.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { socketLink } from "../../transport/socket-link.ts";
import { bundlePlugin } from "./build.ts";
import type { Built } from "./build.ts";
import { scanBuilt } from "./built.ts";
import type { BundleRequest, BundlerAnswer } from "../messages.ts";

const link = socketLink(new Socket({ fd: CONTROL_FD, readable: true, writable: true }));
const respond = (answer: BundlerAnswer, ...bodies: string[]): void => link.send([pack(answer, ...bodies)]);

// Whatever the parser's threads are doing, no result is needed any more.
link.onEnd(() => process.kill(process.pid, "SIGKILL"));
link.onFrames((frames) => {
  for (const frame of frames) void serve(frame);
});
respond({ kind: "ready" });

async function serve(frame: string): Promise<void> {
  const { header, bodies } = unpack(frame);
  const request = header as BundleRequest;
  respond({ kind: "begun" });
  let built: Built;
  try {
    built = request.isBuilt ? scanBuilt(request.input, bodies[0]!) : await bundlePlugin(request, bodies[0]!);
  } catch (error) {
    const { bytes, detail }: ErrorParams = error instanceof CreelError ? error.params : { detail: String(error) };
    // A message may quote a line of the plugin's, and a line may be the whole plugin.
    return respond(
      { kind: "refused", ...(typeof bytes === "number" && { bytes }) },
      String(detail ?? "").slice(0, LIMITS.call.errorStackChars),
    );
  }
  const { files, builtins, scan } = built;
  respond({ kind: "bundled", files, builtins: [...builtins], ...(scan && { scan }) }, built.code, built.map, built.own);
}
