/** Trusted side: what a lane is told when it is to load a plugin, and what is made of its answer. */
import { pack } from "../protocol/frame.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { CallError } from "../protocol/outcome.ts";
import { registration } from "../protocol/registration.ts";
import { limitsOf } from "./budget.ts";
import { guestError, oneLine, ownError } from "./guest-error.ts";
import { factsOf } from "./guest-facts.ts";
import { firstIssue } from "./issues.ts";
import type { Plugin } from "./plugin.ts";
import { touchedRemark } from "./touched.ts";

/** To be sent at once: the plugin is being opened from now on. */
export function openingFrame(plugin: Plugin): string {
  plugin.isOpening = true;
  const { id, home, budget, grants, bundle } = plugin;
  const hasFineClock = grants.clock === "fine";
  const hasVolume = grants.fs !== undefined && bundle!.readsFiles;
  return pack(
    { kind: "open", cell: home!.cell, plugin: id, limits: limitsOf(budget), hasFineClock, hasVolume },
    bundle!.code,
    JSON.stringify(factsOf(plugin)),
    bundle!.own,
  );
}

/** Notes what the plugin says of itself and what it wants to listen to. Gives the reason if it has not loaded, or says what is not valid. */
export function readOpened(plugin: Plugin, isOk: boolean, body: string): CallError | undefined {
  if (!isOk) return loadError(guestError(body, plugin.bundle));
  let declared: unknown;
  try {
    declared = JSON.parse(body);
  } catch {
    declared = undefined;
  }
  const parsed = registration.safeParse(declared);
  if (!parsed.success) return ownError("ERR_PLUGIN_REGISTRATION", firstIssue(parsed.error));
  const { id, name, version, handlers, touched } = parsed.data;
  plugin.name = oneLine(name ?? plugin.name, LIMITS.nameChars);
  plugin.version ??= version && oneLine(version, 64);
  plugin.registered = handlers;
  const diagnostics = (touched ?? []).map(touchedRemark);
  if (id !== undefined && id !== plugin.id)
    diagnostics.push(`the plugin calls itself "${oneLine(id, LIMITS.nameChars)}"; here it is "${plugin.id}"`);
  plugin.diagnostics = diagnostics;
  return undefined;
}

/** What a handler's failure is called when it happens while loading. */
function loadError(error: CallError): CallError {
  return error.code === "ERR_CALL_FAILED"
    ? { ...error, code: "ERR_PLUGIN_LOAD", message: error.message.replace(/^the handler threw: /, "the plugin failed while loading: ") }
    : error;
}
