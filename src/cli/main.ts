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
else {
  // Half of a short command is compiling it. The cache is part of the package: only who may change the code may change it, and without a
  // folder that may be written there is none.
  if (import.meta.url.endsWith(".js"))
    process.getBuiltinModule("node:module").enableCompileCache(`${import.meta.dirname}/../.compile-cache`);
  await import("./run.ts");
}
