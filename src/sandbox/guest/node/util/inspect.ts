/** Inside the isolate: Node's own `inspect` and `format`. */
import { removeScaffold } from "./inspect-scaffold.ts";
import { format, formatWithOptions, inspect, stripVTControlCharacters } from "node-inspect-extracted";

removeScaffold();

export { format, formatWithOptions, inspect, stripVTControlCharacters };
