/** Inside the isolate: `tty`. A cell has no terminal, so nothing is one. */
import { refuse } from "../errors.ts";

const WHY = "a plugin has no terminal; use api.logger";

export default {
  isatty: (): boolean => false,
  ReadStream: refuse("tty.ReadStream", WHY),
  WriteStream: refuse("tty.WriteStream", WHY),
};
