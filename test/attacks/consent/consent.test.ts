/** Packages of the `con` family, through the real installation: a yes gives what was shown, and nothing later than the yes. */
import { describe, expect, it } from "vitest";
import { reviewPage } from "../../../src/cli/plugins/review-page.ts";
import { usualPermissionKeys } from "../../../src/install/install.ts";
import type { Decision, InstallResult } from "../../../src/install/install.ts";
import { permissionKeysOf } from "../../../src/install/review/permission-keys.ts";
import type { Review } from "../../../src/install/review/review.ts";
import { isDangerous } from "../../../src/protocol/dangerous-text.ts";
import { listener, operator, pluginFolder } from "../../install/pipeline.ts";
import { write } from "../../support/files.ts";
import { open } from "../../support/host.ts";
import { FORGED, PACKAGES } from "./packages.ts";
import type { HostilePackage } from "./packages.ts";

const { install, state } = operator();
const folders = new Map(PACKAGES.map((one) => [one.name, pluginFolder(one.manifest, one.source)]));

/** What a person is shown, and whether they say yes to it. */
function person(isYes: boolean) {
  const shown: string[] = [];
  const decide = async (review: Review, digest: string): Promise<Decision> => {
    reviewPage(review, digest, { width: 100, line: (text = "") => void shown.push(text), paint: (_, text) => text });
    return isYes ? { isAccepted: true, keys: usualPermissionKeys(review, (await state.read()).get(review.id)) } : { isAccepted: false };
  };
  return { shown, decide };
}

async function tried({ name }: HostilePackage, isYes = true): Promise<InstallResult & { shown: readonly string[] }> {
  const { shown, decide } = person(isYes);
  return { ...(await install(folders.get(name)!, undefined, { decide })), shown };
}

const byName = (name: string): HostilePackage => PACKAGES.find((one) => one.name.startsWith(name))!;

describe("a hostile package, and a person who says yes to what is shown", () => {
  it("the family has names and classes as the rest of the corpus has", () => {
    expect(new Set(PACKAGES.map(({ name }) => name)).size).toBe(PACKAGES.length);
    expect(PACKAGES.filter(({ name, what }) => !/^con-\d\d-[a-z-]+$/.test(name) || !what.startsWith("CONSENT / "))).toEqual([]);
  });

  it.each(PACKAGES.filter(({ refused }) => !refused))(
    "$name gets no more than the page lists, in characters that no terminal obeys",
    async (one) => {
      const { outcome, entry, shown } = await tried(one);
      expect(outcome).toBe("installed");
      expect(permissionKeysOf(entry!).toSorted()).toEqual(one.mayGet.toSorted());
      expect(one.mayGet.filter((key) => !shown.some((line) => line.startsWith(`  ${key}: `)))).toEqual([]);
      expect(shown.filter((line) => isDangerous(line) || line.trim() === FORGED)).toEqual([]);
    },
  );

  it.each(PACKAGES.filter(({ refused }) => refused))("$name is refused before anybody is asked", async (one) => {
    const { shown, decide } = person(true);
    await expect(install(folders.get(one.name)!, undefined, { decide })).rejects.toMatchObject({ code: one.refused });
    expect(shown).toEqual([]);
  });
});

describe("after the yes", () => {
  it("con-03 has no say in the next installation", async () => {
    const { outcome, guards, notAsked } = await install(pluginFolder({ id: "next" }, listener("session_end")));
    expect({ outcome, guards, notAsked }).toEqual({ outcome: "installed", guards: [], notAsked: ["judge"] });
  });

  it.each(PACKAGES.filter(({ next }) => next))(
    "$name does not become its next version without a yes: what it changes is shown",
    async (one) => {
      const before = (await state.read()).get(one.manifest.id)!;
      write(folders.get(one.name)!, {
        "creel.plugin.json": JSON.stringify({ version: "1.0.0", ...one.manifest, ...one.next!.manifest }),
        "index.ts": one.next!.source ?? one.source,
      });
      const { outcome, shown, review } = await tried(one, false);
      expect([outcome, (await state.read()).get(one.manifest.id)!.store]).toEqual(["refused", before.store]);
      expect(shown.some((line) => line.trim().startsWith("+ code"))).toBe(true);
      expect(review.changes.some(({ sign, what }) => sign === "+" && what !== "code")).toBe(one.next!.manifest !== undefined);
    },
  );

  it("con-06 is heard only on what it showed, and adds no tool", async () => {
    const entries = { faces: { config: { live: true } } };
    await using host = await open("thread", { config: { stateDir: state.dir, plugins: { entries, load: { lazy: false } } } });
    const { hooks, functions } = host.inspect("faces");
    expect([hooks.map(({ hook }) => hook), functions]).toEqual([["message_sending"], []]);
    expect((await host.run("before_tool_call", { toolName: "x", params: {} })).decision).toBe("pass");
  });

  it("con-07 from elsewhere is critical in the review, and a no leaves the grants with the first", async () => {
    const other = pluginFolder(byName("con-07").manifest, listener("message_sending"));
    const { shown, decide } = person(false);
    const { review } = await install(other, undefined, { decide });
    expect(review.scan.findings).toMatchObject([{ rule: "other-source", severity: "critical" }]);
    expect(shown.join("\n")).toContain("critical");
  });
});
