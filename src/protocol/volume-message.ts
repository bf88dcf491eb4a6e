/** What a cell asks about its volume. Guest → host: hostile until it has passed these. */
import * as z from "zod";
import { LIMITS } from "./limits.ts";
import type { VolumeChange } from "./volume.ts";

const path = z.string().min(1).max(LIMITS.volumePathChars);

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
    z.string().max(LIMITS.askBytes),
  ]),
]);

/** `fs.write`: changes, in the order they happened. All of them or none. */
export const volumeChanges = z.array(change).min(1).max(LIMITS.volumeChanges);
