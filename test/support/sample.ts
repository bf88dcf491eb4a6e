/** The smallest event of every hook: for tests that care about none of its fields. */
export { sampleEvent } from "../../src/protocol/rules/samples.ts";
