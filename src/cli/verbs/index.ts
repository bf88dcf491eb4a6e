/** The verbs, in the order of the help. */
import type { Verb } from "../verb.ts";
import { call } from "./call.ts";
import { check } from "./check.ts";
import { completion } from "./completion.ts";
import { demo } from "./demo.ts";
import { dev } from "./dev.ts";
import { doctor } from "./doctor.ts";
import { init } from "./init.ts";

export const VERBS: readonly Verb[] = [demo, init, dev, call, check, doctor, completion];
