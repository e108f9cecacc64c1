import { anyPack } from "@bufbuild/protobuf/wkt";
import type { RunCreated } from "@reeve/contracts/run";
import { OnBusy, RunCreatedSchema } from "@reeve/contracts/run";
import type { RunHead } from "@reeve/run/head/run-head";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { WhenBusy } from "@reeve/run/thread/queue-turn";
import { startTurn as startTurnOf } from "@reeve/run/thread/start-turn";
import type { GatewayPorts } from "./gateway-ports.ts";

/** Starts a run as a turn of its thread. `onBusy` decides what happens if the thread has an active run. */
export async function startTurn(
  ports: GatewayPorts,
  { tenant, run: runId }: RunKey,
  created: RunCreated,
  onBusy: OnBusy,
  signal: AbortSignal,
): Promise<RunHead> {
  const thread = { tenant, thread: created.threadId };
  const runCreated = anyPack(RunCreatedSchema, created);
  const run = { runId, runCreated, whenBusy: whenBusyOf(onBusy) };
  return await startTurnOf(ports, thread, run, created, signal);
}

function whenBusyOf(onBusy: OnBusy): WhenBusy {
  switch (onBusy) {
    case OnBusy.QUEUE:
      return "queue";
    case OnBusy.INTERRUPT:
      return "interrupt";
    case OnBusy.REJECT:
    case OnBusy.UNSPECIFIED:
      return "reject";
  }
  return "reject";
}
