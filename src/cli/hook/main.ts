/**
 * The process of one hook call. It ends by itself at once, since stdin may stay open. Where the call is not understood,
 * the verb explains it, with exit code 2, which agents read as a block.
 */
import { answerHook, hookCallOf } from "./call.ts";

const call = hookCallOf(process.argv.slice(3));
if (!call) await import("../run.ts");
else {
  const { json, problem } = await answerHook(call, process.stdin);
  if (problem !== undefined) process.stderr.write(`creel: ${problem}\n`);
  if (json === undefined) process.exit(0);
  process.stdout.write(`${JSON.stringify(json)}\n`, () => process.exit(0));
}
