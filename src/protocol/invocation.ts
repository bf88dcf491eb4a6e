/** The hook whose context has a `hookInvocation`. The guest gives it, and it has no catalog to look that up in. test/protocol/live.test.ts */
export const INVOCATION_HOOK = "before_prompt_build";
