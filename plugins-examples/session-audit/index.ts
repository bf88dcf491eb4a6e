/**
 * Notes every change of a session's model or label: for the bill, and for the question "who renamed this?". A plugin lives in
 * one cell, so counters in module state count what their author expects.
 */
import { definePlugin } from "creel/plugin";

const WATCHED = ["model", "label"] as const;

const seen = { model: 0, label: 0 };

export default definePlugin({
  id: "session-audit",
  name: "Session Audit",
  register(api) {
    api.on("session:patch", (event) => {
      const { patch } = event.context;
      for (const field of WATCHED) {
        const value = patch[field];
        // Absent: the patch is about something else. Null: back to the default, which is a change too.
        if (value === undefined) continue;
        seen[field] += 1;
        const change = value === null ? `cleared its ${field}` : `changed its ${field} to "${value}"`;
        api.logger.info(`session ${event.sessionKey} ${change} (${field} change no. ${seen[field]})`);
      }
    });
  },
});
