/**
 * The bundler process: makes one bundle after the other, as it is asked. Nothing of a plugin runs here, but its text goes through a
 * native parser, which it may bring down: that is what this process is for. It leaves when its pipe closes.
 */
import { Socket } from "node:net";
import { CreelError } from "../protocol/errors.ts";
import type { ErrorParams } from "../protocol/errors.ts";
import { pack, unpack } from "../protocol/frame.ts";
import { CONTROL_FD } from "../protocol/inherited.ts";
import { LIMITS } from "../protocol/limits.ts";
import { socketLink } from "../protocol/socket-link.ts";
import { bundleGuest, bundlePlugin } from "./bundler-build.ts";
import type { Built } from "./bundler-build.ts";
import type { BundleRequest, BundlerAnswer } from "./bundler-message.ts";

const link = socketLink(new Socket({ fd: CONTROL_FD, readable: true, writable: true }));
const say = (answer: BundlerAnswer, ...bodies: string[]): void => link.send([pack(answer, ...bodies)]);

// Whatever the parser's threads are at: nobody waits for it any more.
link.onEnd(() => process.kill(process.pid, "SIGKILL"));
link.onFrames((frames) => {
  for (const frame of frames) void serve(frame);
});
say({ kind: "ready" });

async function serve(frame: string): Promise<void> {
  const { header, bodies } = unpack(frame);
  const request = header as BundleRequest;
  say({ kind: "begun" });
  let built: Built;
  try {
    built = request.kind === "guest" ? await bundleGuest() : await bundlePlugin(request, bodies[0]!);
  } catch (error) {
    const { bytes, detail }: ErrorParams = error instanceof CreelError ? error.params : { detail: String(error) };
    // A message may quote a line of the plugin's, and a line may be the whole plugin.
    return say({ kind: "refused", ...(typeof bytes === "number" && { bytes }) }, String(detail ?? "").slice(0, LIMITS.errorStackChars));
  }
  const { files, builtins, scan } = built;
  say({ kind: "bundled", files, builtins: [...builtins], ...(scan && { scan }) }, built.code, built.map, built.own);
}
