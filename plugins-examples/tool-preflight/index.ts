/** Asks the user before a web search runs: the query leaves the house, so somebody should have seen it. */
import { definePlugin } from "creel/plugin";

/** The host refuses descriptions past 512 characters, and a refused answer blocks the call: better a shortened question. */
const MAX_QUERY_CHARS = 400;

export default definePlugin({
  id: "tool-preflight",
  name: "Tool Preflight",
  register(api) {
    api.on(
      "before_tool_call",
      (event) => {
        if (event.toolName !== "web_search") return undefined;

        return {
          requireApproval: {
            title: "Run web search",
            description: `Allow search query: ${shown(event.params.query)}`,
            severity: "info",
            timeoutMs: 60_000,
            timeoutBehavior: "deny",
          },
        };
      },
      { priority: 50 },
    );
  },
});

function shown(query: unknown): string {
  // Whatever is searched for must be seen, a query that is no text included.
  const text = typeof query === "string" ? query : (JSON.stringify(query) ?? "");
  return text.length > MAX_QUERY_CHARS ? `${text.slice(0, MAX_QUERY_CHARS)}…` : text;
}
