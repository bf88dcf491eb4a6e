/** Copying a folder: what a plugin's folder may not have, and what is left behind. */
import { mkdirSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyFolder } from "../../src/install/folder.ts";
import { folder } from "../support/files.ts";

const HERE = { "package.json": "{}", "lib/index.js": "1" };

it("a link in a folder is refused, wherever it leads, and nothing of it is read", async () => {
  const from = folder(HERE);
  symlinkSync("../package.json", join(from, "lib/link.js"));
  const into = folder({});
  await expect(copyFolder(from, into)).rejects.toMatchObject({ code: "ERR_ARCHIVE_LINK", message: expect.stringContaining("lib/link.js") });
  expect(readdirSync(join(into, "lib"))).toEqual([]);
});

it("a file that becomes a link after it was looked at is not followed", async () => {
  const from = folder({ "index.js": "1" });
  const secret = join(folder({ secret: "of the operator's" }), "secret");
  // Between the look at the folder and the first copy.
  const swap = {
    throwIfAborted() {
      renameSync(join(from, "index.js"), join(from, "was.js"));
      symlinkSync(secret, join(from, "index.js"));
    },
  } as unknown as AbortSignal;
  const into = folder({});
  await expect(copyFolder(from, into, { signal: swap })).rejects.toMatchObject({ code: "ELOOP" });
  expect(readdirSync(into)).toEqual([]);
});

it("the author's own work is left behind, and so is a state folder that lies in it, by whatever path it is named", async () => {
  const from = folder({ ...HERE, "node_modules/x/index.js": "2", ".git/config": "3", "run/state/creel.lock": "4", "run/notes.txt": "5" });
  const other = join(folder({}), "link");
  symlinkSync(from, other);
  const staging = join(from, "run/state/work");
  mkdirSync(staging);
  const { files } = await copyFolder(from, staging, { without: join(other, "run/state") });
  expect(files.map(({ path }) => path)).toEqual(["lib/index.js", "package.json", "run/notes.txt"]);
});
