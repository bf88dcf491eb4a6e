/**
 * Trusted side: the one place that loads OpenTelemetry's API, and only if the gateway wants traces. Creel never loads an SDK: the gateway
 * has registered one, or the API does nothing.
 */
import type * as api from "@opentelemetry/api";
import { CreelError } from "../../protocol/errors.ts";

export type OtelApi = typeof api;

/** Rejects with a CreelError. */
export async function otelApi(): Promise<OtelApi> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    throw new CreelError("ERR_TELEMETRY_API", { detail: (error as Error).message });
  }
}
