/** Inside the isolate: `constants`, which Node keeps for old packages: those of `os` and `fs` in one table. */
import { constants } from "./fs/fs-constants.ts";
import { ERRNO, SIGNALS } from "./os-constants.ts";

export default { ...ERRNO, ...SIGNALS, ...constants };
