/** Trusted side: the frame that makes a lane load a plugin, and how the host reads the registration that comes back. */
import { pack } from "../../transport/frames.ts";
import { isBounded } from "../../protocol/rules/json-bounds.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CallError } from "../../protocol/outcome.ts";
import { registration } from "../../protocol/rules/registration.ts";
import { limitsOf } from "./budget.ts";
import { guestError, ownError } from "../run/guest-error.ts";
import { oneLine } from "../../text/one-line.ts";
import { factsOf } from "./guest-facts.ts";
import { parseJson } from "../../text/parse-json.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { Plugin } from "./plugin.ts";
import { unknownApiDiagnostic } from "./unknown-api.ts";

/** The caller sends it at once: from now on the plugin counts as opening. */
export function openingFrame(plugin: Plugin): string {
  plugin.isOpening = true;
  const { id, home, budget, grants, bundle, circuit, isResting } = plugin;
  const hasFineClock = grants.clock === "fine";
  const hasVolume = grants.fs !== undefined && bundle!.readsFiles;
  const { cell, lane } = home!;
  const isInspected = lane.isDebug;
  return pack(
    {
      kind: "open",
      cell,
      plugin: id,
      limits: limitsOf(budget),
      hasFineClock,
      hasVolume,
      isPaused: circuit.isResting || isResting,
      isInspected,
    },
    bundle!.code,
    JSON.stringify(factsOf(plugin)),
    bundle!.own,
  );
}

/** Notes the plugin's name, version and handlers. Returns an error if it has not loaded, or its registration is not valid. */
export function readOpened(plugin: Plugin, isOk: boolean, body: string): CallError | undefined {
  if (!isOk) return loadError(guestError(body, plugin.bundle));
  if (!isBounded(body, LIMITS.plugin.registrationValues, LIMITS.plugin.functionDepth + 8))
    return ownError("ERR_PLUGIN_REGISTRATION", {
      field: "",
      detail: `it has more than ${LIMITS.plugin.registrationValues} values, or nests too deep`,
    });
  const parsed = parseJson(registration, body);
  if (!parsed.success) return ownError("ERR_PLUGIN_REGISTRATION", firstIssue(parsed.error));
  const { id, name, version, handlers, unknownMembers } = parsed.data;
  plugin.name = oneLine(name ?? plugin.name, LIMITS.call.nameChars);
  plugin.version ??= version && oneLine(version, 64);
  plugin.registered = handlers;
  const diagnostics = (unknownMembers ?? []).map(unknownApiDiagnostic);
  if (id !== undefined && id !== plugin.id)
    diagnostics.push(`the plugin calls itself "${oneLine(id, LIMITS.call.nameChars)}"; here it is "${plugin.id}"`);
  plugin.diagnostics.ofLoad = diagnostics;
  return undefined;
}

/** Rewords the failure of a handler as one of loading. */
function loadError(error: CallError): CallError {
  return error.code === "ERR_CALL_FAILED"
    ? { ...error, code: "ERR_PLUGIN_LOAD", message: error.message.replace(/^the handler threw: /, "the plugin failed while loading: ") }
    : error;
}
