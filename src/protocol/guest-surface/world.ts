/** What the host tells a cell about its surroundings when it opens it. Host → guest: trusted, plain data. */
export interface GuestWorld {
  /** Environment variables that the operator granted by name, and those of `plugins.entries.<id>.env`. */
  readonly env: Readonly<Record<string, string>>;
  /** In Node's words. */
  readonly platform: string;
  readonly arch: string;
  /** `fine`: performance.now and hrtime are exact. Otherwise they tick in milliseconds. */
  readonly clock: "coarse" | "fine";
  /** Whether WebAssembly exists. */
  readonly wasm: boolean;
}

/** What `load` gets, as JSON. */
export interface GuestFacts {
  /** Facts about the plugin for `api`: id, name, version, pluginConfig and the like. */
  readonly api: Readonly<Record<string, unknown>>;
  readonly world: GuestWorld;
}
