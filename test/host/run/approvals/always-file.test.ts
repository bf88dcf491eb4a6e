import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { AlwaysFile } from "../../../../src/host/run/approvals/always-file.ts";
import type { StoredAlways } from "../../../../src/host/run/approvals/always-file.ts";
import { folder } from "../../../support/files.ts";
import { silent } from "../../../support/host.ts";

const allowed = (toolName: string): StoredAlways => ({ pluginId: "p", toolName, title: "t", bundle: "b", at: 1 });

it("what one host has read does not overwrite what another has written since: it reads again, and what was revoked stays revoked", () => {
  const dir = folder({});
  const [one, other] = [new AlwaysFile(dir, silent), new AlwaysFile(dir, silent)];
  expect(one.changed()).toEqual([]);
  expect(one.write([allowed("exec"), allowed("rm")])).toBe(true);
  expect(other.changed()).toEqual([allowed("exec"), allowed("rm")]);
  // Both have read. The first revokes; the second adds to what it has read before.
  expect(one.write([allowed("exec")])).toBe(true);
  expect(other.write([allowed("exec"), allowed("rm"), allowed("ls")])).toBe(false);
  expect(other.changed()).toEqual([allowed("exec")]);
  expect(other.write([allowed("exec"), allowed("ls")])).toBe(true);
  expect(one.changed()).toEqual([allowed("exec"), allowed("ls")]);
  expect(readdirSync(dir)).toEqual(["approvals.json"]);
});
