/** The walk of docs/guides/operating.md, as it is printed there. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { write } from "../../support/files.ts";
import { hasPty } from "../../support/pty.ts";
import { openRegistry } from "../../support/registry.ts";
import { publishToolGuard, SHAKY } from "./plugins.ts";
import { Walk } from "./walk.ts";

const page = join(import.meta.dirname, "../../../docs/guides/operating.md");

it.runIf(hasPty)(
  "docs/guides/operating.md prints what its commands print, from the first install to the last uninstall",
  { timeout: 400_000 },
  async () => {
    await using registry = await openRegistry();
    await publishToolGuard(registry, "1.0.0");
    await using walk = await Walk.begin(page, registry.env);
    const commands = await walk.all({
      "publish 1.1.0": () => publishToolGuard(registry, "1.1.0"),
      "publish 2.0.0": () => publishToolGuard(registry, "2.0.0"),
      shaky: async () => write(join(walk.folder, "shaky"), SHAKY),
    });
    expect(commands).toBeGreaterThan(20);
  },
);
