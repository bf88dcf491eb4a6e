/** What a function throws, as a value: so that a test can judge it without a branch. Undefined when it throws nothing. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
