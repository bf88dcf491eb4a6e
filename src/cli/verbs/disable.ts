/** `creel disable`. */
import { switchVerb } from "../plugins/switch.ts";

export const disable = switchVerb("disable");
