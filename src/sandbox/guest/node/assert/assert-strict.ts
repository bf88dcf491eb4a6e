/** Inside the isolate: `assert/strict`. */
import assert from "./assert.ts";

export default assert.strict;
