/** Trusted side: what a service is. A plugin asks for one by name; it answers with data, or throws a CreelError. */
import { CreelError } from "../../protocol/errors.ts";
import type { Plugin } from "../plugin.ts";

export interface Asked {
  readonly plugin: Plugin;
  /** The number of its cell: what it has open belongs to that. */
  readonly cell: number;
  /** The run it follows from, for `Causes`. */
  readonly run: number;
  /** Parsed JSON of the plugin's: not trusted. */
  readonly args: unknown;
}

export interface Service {
  /** The longest argument, as JSON text; default LIMITS.askBytes. */
  readonly maxBytes?: number;
  /** Taken however many questions are pending: for what a cell must be able to tell. */
  readonly isOwed?: boolean;
  answer(asked: Asked): unknown;
}

/** Services that belong together, by name. */
export interface ServiceGroup {
  readonly services: Readonly<Record<string, Service>>;
  /** A cell was rebuilt or dropped: whoever waited in it is gone. */
  left?(plugin: Plugin, cell: number): void;
  /** Ends what is under way. */
  close?(): void | Promise<void>;
}

/** Throws unless the operator granted it. */
export function demand(isGranted: boolean, { id }: Plugin, service: string, grant: string): void {
  if (!isGranted) throw new CreelError("ERR_GRANT_MISSING", { service, plugin: id, grant });
}
