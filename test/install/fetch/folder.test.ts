/** Copying a folder: what a plugin's folder may not have, and what is left behind. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyFolder } from "../../../src/install/fetch/folder.ts";
import { folder } from "../../support/files.ts";

const HERE = { "package.json": "{}", "lib/index.js": "1" };

it("a link in a folder is left out, wherever it leads, as npm pack does", async () => {
  const from = folder(HERE);
  symlinkSync("../package.json", join(from, "lib/link.js"));
  const into = folder({});
  symlinkSync(folder({ "secret.js": "" }), join(from, "outside"));
  expect((await copyFolder(from, into)).files.map(({ path }) => path)).toEqual(["lib/index.js", "package.json"]);
  expect([readdirSync(into), readdirSync(join(into, "lib"))]).toEqual([["lib", "package.json"], ["index.js"]]);
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
  await expect(copyFolder(from, into, { signal: swap })).rejects.toMatchObject({
    code: "ERR_ARCHIVE_LINK",
    message: expect.stringContaining("index.js"),
  });
  expect(readdirSync(into)).toEqual([]);
});

/** Does something when the folder has been looked at for the n-th time. */
const atLook = (wanted: number, work: () => void): AbortSignal => {
  let looks = 0;
  return {
    throwIfAborted() {
      looks += 1;
      if (looks === wanted) work();
    },
  } as unknown as AbortSignal;
};

it("a subfolder that becomes a link before it is looked at is not followed", async () => {
  const from = folder({ "a.js": "1", "lib/index.js": "mine" });
  const outside = folder({ "index.js": "of the operator's" });
  const into = folder({});
  const swap = atLook(1, () => {
    renameSync(join(from, "lib"), join(from, "was"));
    symlinkSync(outside, join(from, "lib"));
  });
  await expect(copyFolder(from, into, { signal: swap })).rejects.toMatchObject({
    code: "ERR_ARCHIVE_LINK",
    message: expect.stringContaining("lib"),
  });
  expect(readdirSync(join(into, "lib"))).toEqual([]);
});

it.each([
  ["itself", "lib/deep"],
  ["or a folder above it", "lib"],
])("of a subfolder that becomes a link while it is copied, %s, nothing from outside is read", async (_, swapped) => {
  const from = folder({ "lib/deep/index.js": "mine", "lib/deep/other.js": "mine" });
  const outside = folder({ "index.js": "of the operator's", "deep/index.js": "of the operator's", "deep/other.js": "of the operator's" });
  const into = folder({});
  // The third folder that is looked at is lib/deep: its names are known, and none of its files was read.
  const swap = atLook(3, () => {
    renameSync(join(from, swapped), join(from, "was"));
    symlinkSync(outside, join(from, swapped));
  });
  const refused = await copyFolder(from, into, { signal: swap }).then(
    () => undefined,
    (error: { code: string }) => error.code,
  );
  // Where the folder itself can be held on to, it is copied; elsewhere it is refused.
  const copied = ["index.js", "other.js"].map((name) => join(into, "lib/deep", name)).filter((path) => existsSync(path));
  expect(copied.map((path) => readFileSync(path, "utf8")).filter((text) => text !== "mine")).toEqual([]);
  expect([refused, copied.length]).toEqual(process.platform === "linux" ? [undefined, 2] : ["ERR_ARCHIVE_LINK", 0]);
});

it("the author's own work is left behind, and so is a state folder that lies in it, by whatever path it is named", async () => {
  const from = folder({ ...HERE, "node_modules/x/index.js": "2", ".git/config": "3", "run/state/creel.lock": "4", "run/notes.txt": "5" });
  const other = join(folder({}), "link");
  symlinkSync(from, other);
  const staging = join(from, "run/state/work");
  mkdirSync(staging);
  const { files } = await copyFolder(from, staging, { without: [join(other, "run/state"), join(from, "no-such-file")] });
  expect(files.map(({ path }) => path)).toEqual(["lib/index.js", "package.json", "run/notes.txt"]);
});
