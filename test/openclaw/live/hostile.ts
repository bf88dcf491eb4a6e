/** Plugins that would take a gateway down with them. */
import { expect, it } from "vitest";
import { NO } from "../support/gate-watch.ts";
import type { LiveScene } from "../support/live-scene.ts";

export function hostile(of: () => LiveScene): void {
  /** How often the gateway answered others while the call was under way. Natively it answers nobody from then on. */
  const answered = async (text: string): Promise<{ answers: number; message: string | undefined }> => {
    const scene = of();
    const hogged = scene.weigh(text);
    let answers = 0;
    const over = new AbortController();
    void hogged.finally(() => over.abort());
    while (!over.signal.aborted) {
      await scene.client.request("observer.seen");
      answers += 1;
    }
    const { ok, error } = await hogged;
    expect(ok).toBe(false);
    return { answers, message: error?.message };
  };

  it("pin 7: an endless loop in a hook: the call is blocked, and the gateway answers all the while", async () => {
    const { answers, message } = await answered("hog-now");
    expect(message).toMatch(/CPU time|hog/);
    expect(answers).toBeGreaterThan(1);
  });

  it("pin 7: a hook that fills the memory: the call is blocked, and the gateway answers all the while", async () => {
    const { answers, message } = await answered("hog-memory");
    expect(message).toMatch(/hog/);
    expect(answers).toBeGreaterThan(1);
  });

  it("while the breaker keeps such a plugin out, its gate is shut for every call; `creel openclaw release` opens it in the running gateway", async () => {
    const scene = of();
    // Whatever it took until now: it has to fail often enough.
    for (let failures = 0; failures < 5 && !/quarantined/.test((await scene.weigh("bob")).error?.message ?? ""); failures++)
      await scene.weigh("hog-now");
    expect((await scene.weigh("bob")).error?.message).toContain('the plugin "hog" is quarantined');
    expect((await scene.gateway.creel("release", "hog")).stdout).toContain("hog is out of quarantine");
    expect((await scene.weigh("bob")).ok).toBe(true);
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
  });
}
