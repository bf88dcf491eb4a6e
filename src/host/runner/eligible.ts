/** Trusted side: which handlers of a plan are called for this event. Only options that the hook names in the catalog count. */
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Fields } from "../../protocol/merge.ts";
import type { Handler, Plan } from "../registry.ts";

export function eligible({ filters }: AnyHook, plan: Plan, event: Fields, context: Fields): Plan {
  if (!filters || !plan.some(({ filter }) => filter)) return plan;
  const wants = ({ filter }: Handler): boolean =>
    FILTER_OPTIONS.every((option) => {
      const wanted = filter?.[option];
      const compared = filters[option];
      if (!wanted || !compared) return true;
      const value = (compared.from === "event" ? event : context)[compared.field];
      return typeof value === "string" && wanted.has(value.toLowerCase());
    });
  return plan.filter(wants);
}
