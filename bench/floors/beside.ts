/** Creel's two isolations beside the hand-written workers that they are measured against, with one policy gate. */
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { creel } from "../creel.ts";
import { POLICY_GATE } from "../handlers.ts";
import { processFloor } from "./process.ts";
import { threadFloor } from "./thread.ts";

export const BESIDE_FLOORS: readonly (() => Promise<Contestant>)[] = [
  () => creel(POLICY_GATE, { isolation: "thread" }),
  () => creel(POLICY_GATE, { isolation: "process" }),
  () => threadFloor(POLICY_GATE),
  () => processFloor(POLICY_GATE),
];
