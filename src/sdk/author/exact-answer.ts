/**
 * The author's side, types only: a result with a field that the hook does not have is an error. TypeScript forgets surplus fields of a
 * returned object, so `{ blok: true, blockReason: "…" }` would pass, and so would the call.
 */

type Unless<Known, Names extends PropertyKey> = {
  readonly [P in Names]?: P extends Known ? unknown : `the hook has no such result field: ${P & string}` | undefined;
};
/** A reason decides nothing without the field that it explains. */
type Explained<Names> = ("block" extends Names ? unknown : { readonly blockReason?: "it decides nothing without block" | undefined }) &
  ("cancel" extends Names ? unknown : { readonly cancelReason?: "it decides nothing without cancel" | undefined });

/**
 * An answer with fields of these names: TypeScript infers them from what a handler returns. A name that the
 * hook does not have gets a type that no value has. The type of the value that is returned must not appear here: editors would show that
 * one, which has no comments, instead of the answer's.
 */
export type ExactAnswer<Answer, Names extends PropertyKey> = Answer extends object
  ? Answer & Unless<keyof Answer, Names> & Explained<Names>
  : Answer;
