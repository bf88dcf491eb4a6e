/** Inside the isolate: what is said when a plugin asks for a module that is not there. Loaded when that happens. */
export { absentSentence } from "../../../protocol/modules/absent.ts";
