/** The plugin that the demo proposes to write. `test/cli/first-plugin.test.ts` plays it exactly as printed. */
export const FIRST_PLUGIN = {
  file: "sign-off.ts",
  source: `import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: "sign-off",
  register(api) {
    api.on("message_sending", (event) => ({ content: \`\${event.content} (via creel)\` }));
  },
});
`,
} as const;

/** From a checkout the way in is npm; from an installed package it is the command itself. */
export function commandToPlay(file: string): string {
  return import.meta.url.endsWith(".ts") ? `npm start -- --plugin ./${file}` : `npx creel demo --plugin ./${file}`;
}
