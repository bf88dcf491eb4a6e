/** `npm run test:unit`: the tests that need no sandbox, no bundler and no clock of seconds. Whole command: under a minute on two busy cores. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: [
      "test/{protocol,transport,text,os,state}/**/*.test.ts",
      "test/host/{audit,blame,causality,plugins,report,run,services,storage}/**/*.test.ts",
      "test/host/supervisor/*.test.ts",
      "test/install/{config,manifest,review}/**/*.test.ts",
      "test/docs/{audit,claims,links,reference}.test.ts",
    ],
    exclude: [
      "**/{crash,min-age,surface,signature,config-schema,kv-database,shm-channel,names,bundle-files,fact-chains,shared-kv,run-history,measurements,all-runs}.test.ts",
    ],
    maxWorkers: 3,
    // Half of the time goes into imports: the files of a worker share theirs.
    isolate: false,
    testTimeout: 30_000,
  },
});
