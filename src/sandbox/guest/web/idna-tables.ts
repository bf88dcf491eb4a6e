/** Inside the isolate: the whole of UTS #46, for the names that need it. */
export { toASCII } from "tr46";
