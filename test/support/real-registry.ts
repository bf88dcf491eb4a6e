/** Tests that install packages from a registry: can one be reached? */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Undefined: npm finds this package. Otherwise why not, and tests skip with it. In CI that is a failure: nothing there is skipped in silence. */
export async function noRegistry(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    await run("npm", ["view", name, "version", `--fetch-retries=${process.env.CI ? 3 : 0}`], { env, timeout: 60_000 });
    return undefined;
  } catch (error) {
    const why = `npm finds no registry: ${(error as Error).message}`;
    if (process.env.CI) throw new Error(`CI is set, and tests would be skipped: ${why}`, { cause: error });
    return why;
  }
}
