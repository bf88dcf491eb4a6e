/** Every way to run a handler that the bench knows, Creel's own first, from what protects most to what protects nothing. */
import { creel } from "../creel.ts";
import { threadFloor } from "../floors/thread.ts";
import { processFloor } from "../floors/process.ts";
import type { Work } from "../handlers.ts";
import { extism } from "./extism.ts";
import { hookable } from "./hookable.ts";
import { mainThreadIsolate } from "./main-thread-isolate.ts";
import { naive } from "./naive.ts";
import { openclaw } from "./openclaw.ts";
import { quickjs } from "./quickjs.ts";
import { stdioChild } from "./stdio-child.ts";
import { tapable } from "./tapable.ts";
import { wasmComponent } from "./wasm-component.ts";

/** All but those that start a process per call, which no throughput can be measured of. */
export const lasting = (work: Work) => ({
  "creel, thread": () => creel(work, { isolation: "thread" }),
  "creel, process": () => creel(work, { isolation: "process" }),
  "port + applySync": () => threadFloor(work),
  "socket + applySync": () => processFloor(work),
  naive: () => naive(work),
  "isolated-vm from the main thread": () => mainThreadIsolate(work),
  "quickjs-emscripten": () => quickjs(work),
  "a WebAssembly component": () => wasmComponent(work),
  extism,
  "a long-lived child over stdio": () => stdioChild(work),
  "openclaw's hook runner": () => openclaw(work),
  hookable: () => hookable(work),
  tapable: () => tapable(work),
});
