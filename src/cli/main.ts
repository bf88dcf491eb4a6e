#!/usr/bin/env node
/** The `creel` command. Prints one sentence if this Node is too old; loads the rest only otherwise. */
import { nodeProblem } from "../node-version.ts";

const problem = nodeProblem();
if (problem !== undefined) {
  process.stderr.write(`creel: ${problem}\n`);
  process.exitCode = 1;
}
// An agent waits for `creel hook --for …`, so that loads nothing else.
else if (process.argv[2] === "hook" && process.argv[3] === "--for") await import("./hook/main.ts");
else await import("./run.ts");
