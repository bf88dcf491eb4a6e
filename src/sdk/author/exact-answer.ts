/**
 * The author's side, types only: what is wrong with the result of a handler although TypeScript would assign it. It
 * forgets surplus fields of a returned object, so `{ blok: true, blockReason: "…" }` would pass, and so would the call.
 */

type Settled<R> = R extends PromiseLike<infer Inner> ? Settled<Inner> : R;
type KeysOf<Answer> = Answer extends object ? keyof Answer : never;
type FieldOf<Answer, K> = Answer extends object ? (K extends keyof Answer ? Answer[K] : never) : never;
type Surplus<R, Answer> = R extends object
  ? Exclude<keyof R, KeysOf<Answer>> | InFields<R, Answer, keyof R & KeysOf<Answer> & string>
  : never;
/** The same of its fields, such as `requireApproval`: one step down, and not in lists. */
type InFields<R, Answer, K extends keyof R & string> = { [Key in K]-?: InField<R[Key], FieldOf<Answer, Key>, Key> }[K];
type InField<R, Field, K extends string> =
  Any<R> extends true
    ? never
    : unknown extends Field
      ? never
      : R extends readonly unknown[] | ((...given: never) => unknown)
        ? never
        : R extends object
          ? string extends keyof R
            ? never
            : `${K}.${Exclude<keyof R, KeysOf<Field>> & string}`
          : never;

/** A reason decides nothing without the field that it explains. */
type ReasonAlone<R> = R extends { blockReason: unknown }
  ? "block" extends keyof R
    ? never
    : "blockReason without block"
  : R extends { cancelReason: unknown }
    ? "cancel" extends keyof R
      ? never
      : "cancelReason without cancel"
    : never;

type Any<T> = 0 extends 1 & T ? true : false;

/** `unknown`: nothing is wrong. Otherwise a type that no handler has, whose text says what is. */
export type AnswerFault<Returned, Answer> =
  Any<Returned> extends true
    ? unknown
    : unknown extends Answer
      ? unknown
      : [Surplus<Settled<Returned>, Answer>] extends [never]
        ? [ReasonAlone<Settled<Returned>>] extends [never]
          ? unknown
          : { readonly "this result decides nothing": ReasonAlone<Settled<Returned>> }
        : { readonly "the hook has no such result field": Surplus<Settled<Returned>, Answer> };
