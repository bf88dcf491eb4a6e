/** A state folder with plugins in it, as `creel install` leaves it, without the steps that a person would be asked in. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleFile } from "../src/bundler/bundle.ts";
import { bundleFiles } from "../src/state/bundle-files.ts";
import { openState } from "../src/state/state.ts";

const DIGEST = `sha256-${"A".repeat(43)}=`;

export interface StateFolder extends AsyncDisposable {
  readonly path: string;
}

/** Plugins that all listen to `message_sending`. */
export async function stateFolder(count: number): Promise<StateFolder> {
  const root = await mkdtemp(join(tmpdir(), "creel-bench-"));
  const path = join(root, "state");
  await openState(path).transaction(async (tx) => {
    for (let at = 0; at < count; at++) {
      const id = `installed-${at}`;
      const entry = join(root, `${id}.ts`);
      await writeFile(entry, `export default (api) => { api.on("message_sending", () => { ${at}; }); };`);
      const facts = {
        id,
        name: id,
        version: "1.0.0",
        source: { spec: `${id}@1.0.0`, resolved: `file:${id}`, integrity: DIGEST },
        hooks: [{ hook: "message_sending", priority: 0 }],
        functions: [],
        grants: {},
        permissions: {},
        budgets: { plugin: {}, hooks: {} },
        accepted: { by: "the bench", at: new Date().toISOString(), digest: DIGEST },
        enabled: true,
      };
      await tx.put(facts, bundleFiles(await bundleFile(root, entry), { id, version: "1.0.0" }));
    }
  });
  return { path, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}
