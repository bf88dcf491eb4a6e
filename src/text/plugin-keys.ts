/** The keys of creel.json that do for a plugin which was not installed what commands do for the others. */

/** False: gateways do not load it. */
export const disableKey = (plugin: string): string => `plugins.entries.${plugin}.enabled`;

export const permissionsKey = (plugin: string): string => `plugins.entries.${plugin}.permissions`;
