/** Inside the isolate: `timers`, the globals as a module. */
import { timerGlobals } from "../turn/timers.ts";
import promises from "./timers-promises.ts";

export default { ...timerGlobals, promises };
