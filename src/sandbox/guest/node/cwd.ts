/** Inside the isolate: where relative paths begin. `process.chdir` moves it. */
import { HOME } from "../../../protocol/volume.ts";

export { HOME };
export const place = { cwd: HOME };
