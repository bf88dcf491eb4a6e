/** What is used from outside. Any other file, export or dependency that nothing imports is dead, and `npm run check` fails. */
import type { KnipConfig } from "knip";
import { guestEntries } from "./src/protocol/guest-surface/surface.ts";

export default {
  // Beside the exports and the bin of package.json.
  entry: [
    "src/node-version.ts",
    // Bundled for the browser by scripts/console-build.
    "src/console/page/main.tsx",
    // Loaded by URL, as a process or thread.
    "src/sandbox/process/{main,self-test}.ts",
    "src/sandbox/lane/thread.ts",
    "src/bundler/child/main.ts",
    "src/host/storage/checkpoint-thread.ts",
    "src/install/manifest/schema-thread.ts",
    // The guest is bundled from a table of files; three of them replace modules of its dependencies.
    ...["boot/main", "web/utf8", "web/url/idna", "web/url/percent", ...guestEntries()].map((file) => `src/sandbox/guest/${file}.ts`),
    "scripts/*.{ts,mjs,cjs}",
    "scripts/guest-build/main.ts",
    "scripts/node-tests/{main.ts,common.cjs}",
    "scripts/compat/{record.ts,in-node.mjs}",
    "bench/{run,run-case}.ts",
    "bench/cases/*/case.ts",
    "bench/floors/*-{worker,child}.ts",
    "vitest.*.ts",
    "test/**/*.test.ts",
    "test/**/*.test-d.ts",
    "test/**/fixtures/*.ts",
    "test/attacks/*.ts",
    "plugins-examples/*/*.ts",
  ],
  project: ["{src,scripts,bench,test}/**/*.{ts,tsx,mjs,cjs}"],
  ignoreExportsUsedInFile: { interface: true, type: true },
  // One name for a reply, another for any record: both are the same schema.
  exclude: ["duplicates"],
  // Packages that test/sandbox/guest/packages.test.ts loads into a cell, by name; c8 is run by its path.
  ignoreDependencies: [
    "c8",
    "cheerio",
    "date-fns",
    "jose",
    "js-yaml",
    "libphonenumber-js",
    "lodash-es",
    "minimatch",
    "nanoid",
    "axios",
    "csv-parse",
    "jsonwebtoken",
    "winston",
    "semver",
  ],
  ignoreBinaries: ["apt-get", "getent", "mkfifo", "mount", "umount", "unshare", "sha256sum", "script", "openssl"],
} satisfies KnipConfig;
