/**
 * Every entry point of the package loads this file first: on a Node that is too old it says so in one sentence, before that Node meets syntax it
 * cannot parse. It must run on any Node with modules, so it imports nothing and uses no recent syntax.
 */
const NEEDED = 24;

/** Undefined: this Node will do. */
export function nodeProblem(version: string = process.versions.node, pnp: string | undefined = process.versions.pnp): string | undefined {
  if (pnp !== undefined)
    return `Creel does not run under Yarn's Plug'n'Play: its sandbox sees real files only. Fix: set "nodeLinker: node-modules" in .yarnrc.yml, then run yarn install`;
  if (Number(version.split(".")[0]) >= NEEDED) return undefined;
  return `Creel needs Node ${NEEDED} or newer; this is v${version}. Install it with: npm install node@${NEEDED} (or nvm install ${NEEDED})`;
}

/** Throws the problem without a stack: the place does not matter. */
export function checkNode(version?: string): void {
  const problem = nodeProblem(version);
  if (problem === undefined) return;
  const error = new Error(problem);
  error.stack = `Error: ${problem}`;
  throw error;
}
