/** Inside the isolate: UTS #46 as a whole, for the host names that need it. */
export { toASCII } from "tr46";
