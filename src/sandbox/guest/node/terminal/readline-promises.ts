/** Inside the isolate: `readline/promises`. */
import { promises } from "./readline.ts";

export default promises;
