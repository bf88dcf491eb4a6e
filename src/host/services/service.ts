/**
 * Trusted side: what a service is. A plugin requests one by name; the service answers with data or throws a CreelError.
 */
import type * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { Plugin } from "../plugins/plugin.ts";

export interface ServiceRequest {
  readonly plugin: Plugin;
  /** The requesting cell, which owns whatever the service opens for it. */
  readonly cell: number;
  /** The run that caused the request, for `Causes`. */
  readonly run: number;
  /** Parsed JSON from the plugin: untrusted. */
  readonly args: unknown;
}

export interface Service {
  /** Longest argument, as JSON text; default LIMITS.requests.bytes. */
  readonly maxBytes?: number;
  /** Accepted however many requests are pending: for what a cell must be able to report. */
  readonly isOwed?: boolean;
  /**
   * Runs when the request arrives, before it may have to wait. Throws when the cell no longer belongs to the plugin.
   */
  arrives?(plugin: Plugin, cell: number): void;
  /**
   * SECURITY: throws unless the operator granted the service, before anything is parsed or checked. `text` is the
   * argument. test/host/services/services.test.ts
   */
  permit?(plugin: Plugin, text: string): void;
  answer(request: ServiceRequest): unknown;
}

/** Related services, by name. */
export interface ServiceGroup {
  readonly services: Readonly<Record<string, Service>>;
  /** A cell was rebuilt or dropped: nothing waits for its requests any more. */
  left?(plugin: Plugin, cell: number): void;
  /** Ends pending requests. */
  close?(): void | Promise<void>;
}

/** Throws unless the operator granted it. */
export function demand(isGranted: boolean, { id }: Plugin, service: string, grant: string): void {
  if (!isGranted) throw new CreelError("ERR_GRANT_MISSING", { service, plugin: id, grant });
}

/** The argument by its schema. Throws a CreelError. */
export function checked<T>(schema: z.ZodType<T>, args: unknown, service: string): T {
  const parsed = schema.safeParse(args);
  if (!parsed.success) throw new CreelError("ERR_SERVICE_ARGUMENT", { service, ...firstIssue(parsed.error) });
  return parsed.data;
}
