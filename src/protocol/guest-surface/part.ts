/**
 * Both the bundler and the guest: parts of a plugin that OpenClaw loads by the name of their file, such as
 * `{ specifier: "./api.js" }`. The bundler finds the name and puts the part's loader beside it, by this key.
 */
export const PART_KEY = "creel.part";
