/** What a cell is told about the world around it when it is opened. Host → guest: trusted, plain data. */
export interface GuestWorld {
  /** Environment variables that the operator granted by name, and those of `plugins.entries.<id>.env`. */
  readonly env: Readonly<Record<string, string>>;
  /** As Node calls them. */
  readonly platform: string;
  readonly arch: string;
  /** `fine`: performance.now and hrtime are exact. Otherwise they tick in milliseconds. */
  readonly clock: "coarse" | "fine";
  /** Is WebAssembly there? */
  readonly wasm: boolean;
}

/** Everything `load` is told, as JSON. */
export interface GuestFacts {
  /** What `api` says about the plugin: id, name, version, pluginConfig and the like. */
  readonly api: Readonly<Record<string, unknown>>;
  readonly world: GuestWorld;
}
