/**
 * The `creel` command on a supported Node. Sets the exit code and lets the process end, so that a leaked handle is
 * noticed.
 */
import { systemError } from "../os/system-error.ts";
import { runCli } from "./cli.ts";
import { terminal } from "./ui/terminal.ts";
import { EXIT } from "./verb.ts";
import { VERBS } from "./verbs/index.ts";

for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The terminal is gone, so the command stops.
    if (error.code === "EIO") process.exit(EXIT.interrupted);
    // `creel … | head` closes the pipe early, and that is no error.
    if (error.code === "EPIPE") process.exit();
    const known = systemError(error, () => (stream === process.stdout ? "stdout" : "stderr"));
    if (!known) throw error;
    if (stream === process.stdout) process.stderr.write(`creel: ${known.message}\n  Fix: ${known.fix}\n`);
    process.exit(EXIT.failed);
  });

process.exitCode = await runCli(process.argv.slice(2), VERBS, { out: terminal(process.stdout), err: terminal(process.stderr) });
