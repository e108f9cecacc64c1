import type { TriggerFirings, TriggerOwner, TriggerRecord } from "@reeve/contracts/trigger";
import type { LiveView } from "@reeve/jetstream/table/live-view";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { Credential } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../gateway-ports.ts";

/** With what an owner may start a run now, or why not. */
export type OwnerCheck =
  | { readonly kind: "accepted"; readonly credential: Credential }
  | { readonly kind: "refused"; readonly problem: string }
  /** The settings of this gateway lack the owner, or the owner's role. They may be older or newer than those of other gateways. */
  | { readonly kind: "missing"; readonly problem: string };

/** What triggers work with. */
export interface TriggerPorts {
  /** What the start of a run needs. */
  readonly gateway: GatewayPorts;
  readonly records: Table<TriggerRecord>;
  readonly firings: Table<TriggerFirings>;
  /** All records of all tenants as of a moment ago, without asking the store. */
  readonly known: LiveView<TriggerRecord>;
  readonly owners: {
    /** Checks whether the owner of a trigger may start runs now. */
    check(tenant: string, owner: TriggerOwner | undefined): OwnerCheck;
  };
  /** Wall-clock time. */
  readonly clock: Pick<Clock, "now">;
  /** The minimum time between two firings of a schedule. */
  readonly minIntervalMs: number;
  /** How many triggers a tenant may have. */
  readonly maxTriggers: number;
}
