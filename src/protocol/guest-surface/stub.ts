/** Shared; a constant. A file of its own, because the guest's bootstrap reads it, and must not contain the sentences. */

/** Before the name of a module in a bundle: its place is taken by a stub that throws when it is used. */
export const STUB = "creel:absent/";
