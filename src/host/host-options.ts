/** Trusted side: what a host is made from. The SDK turns the options of `openHost` and creel.json into it. */
import type { AnyHook, HookTable } from "../protocol/catalog.ts";
import type { AuditSettings } from "./audit/audit.ts";
import type { PluginEntry } from "../protocol/config/config.ts";
import type { Duties } from "./duties.ts";
import type { Relay } from "./durable/relay.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { Plugin } from "./plugins/plugin.ts";
import type { RecordSettings } from "./record/recorder.ts";
import type { Logger } from "./report/log.ts";
import type { RequestApproval } from "./run/approvals/approvals.ts";
import type { InspectOptions } from "./inspect/inspector.ts";
import type { InspectSession } from "./inspect/session.ts";
import type { Network } from "./services/fetch/request.ts";
import type { KvSeeds, SharedKv } from "./services/kv/kv.ts";
import type { OtelApi } from "./telemetry/otel-api.ts";
import type { TelemetryOptions } from "./telemetry/tracing.ts";
import type { Secrets } from "./services/secrets/secrets.ts";
import type { SessionGateway } from "./services/session/session.ts";
import type { WallsReport } from "./supervisor/launch/walls-report.ts";
import type { StartUnit } from "./supervisor/unit.ts";

export interface HostOptions {
  readonly lanes: number;
  readonly lanesPerUnit: number;
  readonly startUnit: StartUnit;
  readonly hasSpare: boolean;
  readonly memoryBytes: number;
  /** The script that each cell runs before the plugin's; empty: lanes have it. */
  readonly guest: string;
  /** Known when the host opens. */
  readonly walls: () => WallsReport;
  readonly hooks: HookTable;
  /** The operator's failure policies, by hook. */
  readonly failure: Readonly<Record<string, AnyHook["failure"]>>;
  /** May plugins listen to internal events? */
  readonly hasInternal: boolean;
  /** Does the host open although a plugin does not serve and its hooks are not known? */
  readonly allowsFailed: boolean;
  /** Events are checked even if no plugin listens. */
  readonly isStrict: boolean;
  /** Observe hooks whose events are kept until their plugins have them; needs a state folder. */
  readonly durable: ReadonlySet<string>;
  /** Does the operator let a plugin choose durable hooks? */
  readonly mayBeDurable: boolean;
  readonly gateway: SessionGateway & { readonly requestApproval?: RequestApproval | undefined };
  /** Approvals: may `timeoutBehavior: "allow"` let a call run although the user did not answer? */
  readonly allowOnTimeout: boolean;
  /** Approvals: do calls wait for an operator although the gateway has no user to ask? */
  readonly isAnswerable: boolean;
  /** The folder for everything that must survive a restart; undefined: nothing survives. */
  readonly stateDir: string | undefined;
  /** A database for the stores of plugins that several hosts share. */
  readonly sharedKv?: SharedKv | undefined;
  /** The key of causes that all hosts of a fleet can read; undefined: only this host can. */
  readonly causeKey?: Uint8Array | undefined;
  /** What plugins do without being called is shared with other hosts; undefined: this host does all of it. */
  readonly duties?: Duties | undefined;
  /** Events of durable hooks go through the servers of a fleet; undefined: this host delivers them. */
  readonly relay?: Relay | undefined;
  /** Settings of the audit log in the state folder. */
  readonly audit?: (AuditSettings & { readonly enabled?: boolean | undefined }) | undefined;
  /** Settings of the recorder, which writes whole events into the state folder. Undefined: it is off. */
  readonly record?: RecordSettings | undefined;
  readonly logger: Logger;
  readonly secrets: Secrets;
  /** Finds the current version of a plugin by its id; undefined: there is none. Rejects with a CreelError. */
  find(id: string): Promise<Plugin | undefined>;
  /** Replaces what the configuration says about a plugin, from its next load on. Throws a CreelError. */
  configure(id: string, entry: PluginEntry): void;
  /** See InnerOptions. */
  readonly recording?: { readonly isOn: boolean } | undefined;
  /** In an author's test: time that moves when the test says so. */
  readonly clock?: ManualClock | undefined;
  /** In an author's test: the first entries of plugins. */
  readonly kvSeeds?: KvSeeds | undefined;
  /** Replaces the network. */
  readonly network?: Network | undefined;
  /** The plugin that a debugger may attach to; undefined: none. */
  readonly inspect?: InspectOptions | undefined;
  /** OpenTelemetry's API and the gateway's wishes; undefined: no traces. */
  readonly telemetry?: { readonly api: OtelApi; readonly options: TelemetryOptions } | undefined;
  /** Instead of a debugger that connects. */
  readonly inspectSession?: InspectSession | undefined;
}
