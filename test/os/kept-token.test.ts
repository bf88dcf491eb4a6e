import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keptToken } from "../../src/os/kept-token.ts";
import { folder } from "../support/files.ts";

it("is the same every time, in a file for its owner alone, whose folder is made if there is none", async () => {
  const file = join(folder({}), "state/token");
  const token = await keptToken(file);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([`${token}\n`, 0o600]);
  expect(await keptToken(file)).toBe(token);
});

it("a token that others could read, or that a link leads to, is replaced; so is what is none", async () => {
  const dir = folder({ elsewhere: `${"a".repeat(43)}\n` });
  const [file, elsewhere] = [join(dir, "token"), join(dir, "elsewhere")];
  chmodSync(elsewhere, 0o600);
  symlinkSync(elsewhere, file);
  const token = await keptToken(file);
  expect(token).not.toBe("a".repeat(43));
  expect(readFileSync(elsewhere, "utf8")).toBe(`${"a".repeat(43)}\n`);
  chmodSync(file, 0o640);
  const next = await keptToken(file);
  expect([next === token, statSync(file).mode & 0o777]).toEqual([false, 0o600]);
  writeFileSync(file, "short\n");
  expect(await keptToken(file)).toMatch(/^[\w-]{43}$/);
});
