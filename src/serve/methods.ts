/** Trusted side: what a client may ask of the host, by method. Parameters have passed their schema when they come here. */
import { CATALOG } from "../protocol/catalog.ts";
import type { ServeMethod, ServeParams, ServeState } from "../protocol/serve.ts";
import type { FunctionTarget } from "../host/function-calls.ts";
import type { Host } from "../sdk/gateway.ts";

export interface Asking {
  readonly signal: AbortSignal;
  /** Tells what a tool reports while it works. */
  readonly update: (value: unknown) => void;
}

type Methods = { readonly [M in Exclude<ServeMethod, "subscribe">]: (host: Host, params: ServeParams<M>, asking: Asking) => unknown };

export const METHODS: Methods = {
  // The host checks hook, event and context, whoever asks.
  run: (host, { hook, event, ctx, plugin }, { signal }) =>
    host.run(hook as never, event as never, ctx as never, { signal, ...(plugin !== undefined && { plugin }) }),
  emit: (host, { hook, event, ctx }) => host.emit(hook as never, event as never, ctx as never),
  has: (host, { hook }) => host.has(hook as never),
  plugins: (host) => host.plugins(),
  inspect: (host, { plugin }) => host.inspect(plugin),
  reload: (host, { plugin }) => host.reload(plugin),
  disable: (host, { plugin }) => host.disable(plugin),
  release: (host, { plugin }) => host.release(plugin),
  tools: (host) => host.tools(),
  commands: (host) => host.commands(),
  methods: (host) => host.methods(),
  services: (host) => host.services(),
  call: (host, { target, argument, ctx, updates }, { signal, update }) =>
    host.call(target as FunctionTarget, argument, { signal, ...(ctx && { ctx }), ...(updates && { onUpdate: update }) }),
  patchSession: (host, { patch }) => host.patchSession(patch),
  approvals: (host) => host.approvals(),
  revokeApproval: (host, { pluginId, toolName, agentId }) => host.revokeApproval({ pluginId, toolName, agentId }),
};

/** What changes what there is: whoever has asked is told the new state before the answer. */
export const CHANGES: ReadonlySet<string> = new Set<ServeMethod>(["reload", "disable", "release", "revokeApproval"]);

export function stateOf(host: Host): ServeState {
  return {
    hooks: Object.keys(CATALOG).filter((hook) => host.has(hook as never)),
    plugins: host.plugins() as unknown as ServeState["plugins"],
    tools: host.tools() as unknown as ServeState["tools"],
    commands: host.commands() as unknown as ServeState["commands"],
    methods: host.methods() as unknown as ServeState["methods"],
    services: host.services() as unknown as ServeState["services"],
    approvals: host.approvals() as unknown as ServeState["approvals"],
    pids: host.pids(),
  };
}
