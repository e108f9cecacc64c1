import { TriggerFiringsSchema, TriggerRecordSchema } from "@reeve/contracts/trigger";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import { openTable } from "@reeve/jetstream/table/nats";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayPorts } from "./app/gateway-ports.ts";
import type { PrincipalDirectory } from "./app/triggers/owner-check.ts";
import { ownerChecks } from "./app/triggers/owner-check.ts";
import type { FireDuePorts } from "./app/triggers/schedule/fire-due.ts";
import { receiveWebhook } from "./app/triggers/webhook/receive-webhook.ts";
import type { GatewayConfig } from "./config.ts";
import type { HookHandler } from "./hooks/hook-site.ts";
import { RequestRate } from "./quotas/request-rate.ts";

interface TriggerDependencies {
  readonly nats: Nats;
  readonly gateway: GatewayPorts;
  readonly directory: PrincipalDirectory;
  readonly recordAct: RecordAct;
  readonly log: Logger;
}

/** Opens what triggers work with. The view of all triggers follows NATS until `signal` aborts. */
export async function openTriggers(
  {
    REEVE_TRIGGER_MIN_INTERVAL_S: minIntervalS,
    REEVE_MAX_TRIGGERS: maxTriggers,
  }: Pick<GatewayConfig, "REEVE_TRIGGER_MIN_INTERVAL_S" | "REEVE_MAX_TRIGGERS">,
  { nats, gateway, directory, recordAct, log }: TriggerDependencies,
  signal: AbortSignal,
): Promise<FireDuePorts> {
  // What a full store keeps its reserve for has started already.
  const records = await openTable(nats, TriggerRecordSchema, { usesReserve: false });
  return {
    gateway,
    records,
    firings: await openTable(nats, TriggerFiringsSchema, { usesReserve: false }),
    known: await openLiveView(records, log, signal),
    owners: ownerChecks(directory, systemClock),
    clock: systemClock,
    minIntervalMs: minIntervalS * 1_000,
    maxTriggers,
    recordAct,
  };
}

/** Returns what handles webhooks. */
export function webhooks(triggers: FireDuePorts): HookHandler {
  const ports = { ...triggers, rate: new RequestRate(steadyClock) };
  return { receive: (...given) => receiveWebhook(ports, ...given) };
}
