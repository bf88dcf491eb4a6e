/** The verbs, in the order of the help. */
import type { Verb } from "../verb.ts";
import { call } from "./call.ts";
import { check } from "./check.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";

export const VERBS: readonly Verb[] = [demo, call, check, doctor];
