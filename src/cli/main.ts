#!/usr/bin/env node
/** The `creel` command. Sets the exit code and lets the process end by itself: a handle left open would be a bug worth seeing. */
import { runCli } from "./cli.ts";
import { terminal } from "./ui/terminal.ts";
import { VERBS } from "./verbs/index.ts";

// `creel … | head` closes the pipe early; that is the reader's right and nobody's error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await runCli(process.argv.slice(2), VERBS, { out: terminal(process.stdout), err: terminal(process.stderr) });
