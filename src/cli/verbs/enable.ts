/** `creel enable`. */
import { switchVerb } from "../plugins/switch.ts";

export const enable = switchVerb("enable");
