/**
 * What a secret looks like. The text is hostile (a model can be talked into writing anything), so every expression here takes
 * linear time: an open-ended repetition is either the last thing in it, or can only start where a run of its characters
 * starts; look-aheads and everything else are bounded.
 */
export interface SecretPattern {
  readonly name: string;
  /** Global. A group named `keep` in front of the secret stays in the text. */
  readonly regex: RegExp;
}

export const BUILT_IN: readonly SecretPattern[] = [
  // The digit tells a key from a name such as "sk-learn-contrib-examples".
  { name: "API key", regex: /\bsk-(?=[\w-]{0,64}\d)[\w-]{16,}/g },
  { name: "Stripe key", regex: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g },
  { name: "GitHub token", regex: /\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/g },
  { name: "GitLab token", regex: /\bglpat-[\w-]{20,}/g },
  { name: "Slack token", regex: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  { name: "npm token", regex: /\bnpm_[A-Za-z0-9]{36,}/g },
  { name: "AWS key id", regex: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { name: "Google API key", regex: /\bAIza[\w-]{35,}/g },
  // The look-behind, and not \b: "-" is a boundary for \b, and "eyJ-eyJ-eyJ…" would be scanned again from each.
  { name: "JSON web token", regex: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g },
  { name: "bearer token", regex: /(?<keep>\bbearer\s{1,4})[\w.~+/=-]{20,}/gi },
  {
    name: "credential",
    regex: /(?<keep>\b(?:api[_-]?key|secret|token|passw(?:or)?d)["']?\s{0,4}[:=]\s{0,4}["']?)(?=[^\s"',;]{0,64}\d)[^\s"',;[\]]{12,}/gi,
  },
];

export function redactMatches(content: string, { name, regex }: SecretPattern): string {
  return content.replaceAll(regex, (...match) => {
    const groups = match.at(-1) as { keep?: string } | string | undefined;
    const kept = typeof groups === "object" ? (groups.keep ?? "") : "";
    return `${kept}[redacted: ${name}]`;
  });
}
