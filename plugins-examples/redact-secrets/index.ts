/**
 * Takes secrets out of messages before they leave. It runs last (priority -100), so that it reads what will really be sent,
 * after every rewriting plugin. Redacting beats cancelling: the user still gets the answer. A message that is nothing but a
 * private key has no answer in it, and is cancelled.
 */
import { definePlugin } from "creel/plugin";
import { readPatterns } from "./config.ts";
import { redactPrivateKeys } from "./private-keys.ts";
import { BUILT_IN, redactMatches } from "./patterns.ts";

export default definePlugin<{ patterns?: unknown }>({
  id: "redact-secrets",
  name: "Redact Secrets",
  register(api) {
    const patterns = [...BUILT_IN, ...readPatterns(api.pluginConfig.patterns)];

    api.on(
      "message_sending",
      (event) => {
        const keys = redactPrivateKeys(event.content);
        if (keys.found > 0 && keys.isBare) {
          api.logger.warn(`stopped a message to ${event.to}: it was a private key`);
          return { cancel: true, cancelReason: "the message is a private key" };
        }

        let content = keys.content;
        const found = keys.found > 0 ? ["private key"] : [];
        for (const pattern of patterns) {
          const redacted = redactMatches(content, pattern);
          if (redacted === content) continue;
          content = redacted;
          found.push(pattern.name);
        }
        if (found.length === 0) return undefined;

        api.logger.info(`redacted from a message to ${event.to}: ${found.join(", ")}`);
        return { content };
      },
      { priority: -100 },
    );
  },
});
