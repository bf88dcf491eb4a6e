/**
 * A settled approval for people: which plugin asked, the answer, who answered, and which plugin changed parameters
 * after that.
 */

/** As an outcome or a line of the audit log has it. */
interface Settled {
  readonly pluginId: string;
  readonly resolution: string;
  /** Lines of an older version have none. */
  readonly requests?:
    | readonly {
        readonly pluginId: string;
        readonly title: string;
        readonly severity?: string | undefined;
        readonly resolution: string;
        readonly isRemembered?: boolean | undefined;
      }[]
    | undefined;
  readonly changes?: readonly { readonly pluginId: string; readonly params: readonly string[] }[] | undefined;
  readonly answeredBy?: string | undefined;
}

/**
 * SECURITY: titles are a plugin's text; the caller puts each on one line without control characters.
 * test/cli/verbs/host/explain.test.ts
 */
export function approvalLines({ pluginId, resolution, requests, changes = [], answeredBy }: Settled): string[] {
  const asked = requests?.map((request) => {
    const how = request.isRemembered ? `${request.resolution} (remembered)` : request.resolution;
    const severity = request.severity === undefined ? "" : ` (${request.severity})`;
    return `${how}, asked for by ${request.pluginId}: "${request.title}"${severity}`;
  });
  return [
    ...(asked ?? [`${resolution}, asked for by ${pluginId}`]),
    ...changes.map((change) => `${change.pluginId} changed ${change.params.join(", ")} after the first request`),
    ...(answeredBy === undefined ? [] : [`answered by ${answeredBy}`]),
  ];
}
