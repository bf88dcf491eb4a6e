/**
 * What a cell requests of its volume. Guest → host: hostile until it has passed these schemas. Apart from files.ts,
 * which cells load: zod stays outside of cells.
 */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import type { VolumeChange } from "./files.ts";

const path = z.string().min(1).max(LIMITS.files.pathChars);

const change: z.ZodType<VolumeChange> = z.union([
  z.tuple([z.literal("mkdir"), path]),
  z.tuple([z.literal("rm"), path]),
  z.tuple([z.literal("mv"), path, path]),
  z.tuple([
    z.literal("put"),
    path,
    z.int().nonnegative(),
    z.number().min(0).max(Number.MAX_SAFE_INTEGER),
    z.enum(["u", "b"]),
    z.string().max(LIMITS.requests.bytes),
  ]),
]);

/** `fs.write`: changes in their order. The host applies all of them or none. */
export const volumeChanges = z.array(change).min(1).max(LIMITS.files.changes);
