import { TaskPushesSchema } from "@reeve/contracts/a2a";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openTable } from "@reeve/jetstream/table/nats";
import { systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { PushPorts } from "./a2a/push/push-ports.ts";
import type { PushTargetOptions } from "./a2a/push/push-target.ts";
import { openPushTarget } from "./a2a/push/push-target.ts";
import type { GatewayPorts } from "./app/gateway-ports.ts";

export interface PushDependencies {
  readonly nats: Nats;
  readonly gateway: Pick<GatewayPorts, "runs">;
  readonly recordAct: RecordAct;
  readonly log: Logger;
  /** Closes the connections to receivers. */
  readonly resources: AsyncDisposableStack;
}

/** Opens what push notifications of A2A work with. The view follows NATS until `signal` aborts. */
export async function openPushes(
  receivers: PushTargetOptions,
  { nats, gateway, recordAct, log, resources }: PushDependencies,
  signal: AbortSignal,
): Promise<PushPorts> {
  // The tasks are of runs that have started already.
  const records = await openTable(nats, TaskPushesSchema, { usesReserve: false });
  return {
    records,
    known: await openLiveView(records, log, signal),
    runs: gateway.runs,
    target: resources.use(openPushTarget(receivers)),
    recordAct,
    clock: systemClock,
  };
}
