/** Inside the isolate: `stream/promises`. */
import Stream from "./stream.ts";

export default Stream.promises;
