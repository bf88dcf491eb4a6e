/**
 * Untrusted input: a worker thread for one check of a third party's JSON Schema. config-schema.ts limits its memory and
 * its time.
 */
import { parentPort, workerData } from "node:worker_threads";
import { misfits } from "./schema-check.ts";
import type { Schema } from "./schema-check.ts";

const { schema, value } = workerData as { readonly schema: Schema; readonly value: unknown };
try {
  parentPort!.postMessage({ misfits: misfits(schema, value) });
} catch (error) {
  // The message of the validator lists every part of the schema.
  const detail = error instanceof RangeError ? "it refers to itself without end" : (error as Error).message.split("\n", 1)[0];
  parentPort!.postMessage({ fault: detail });
}
