import { create } from "@bufbuild/protobuf";
import { DispatchSchema } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { isWakeDue } from "../head/ownership.ts";
import type { RunHead } from "../head/run-head.ts";
import type { AppendExternalPorts } from "./append-external.ts";

/** Interval after which a dispatch that did not wake its run is published again. */
const repeatMs = 30_000;

/** Dispatches a parked run whose time to wake has come at `nowMs`, so that a worker serves its timers. May be repeated. */
export async function wakeRun(
  { dispatch }: Pick<AppendExternalPorts, "dispatch">,
  { tenant, run }: RunKey,
  head: RunHead,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  if (!isWakeDue(head, nowMs)) return;
  const message = create(DispatchSchema, {
    tenant,
    runId: run,
    afterSequence: head.lastSequence,
  });
  const dedupeId = `${run}:${head.parkedAt ?? 0}:wake-${Math.floor(nowMs / repeatMs)}`;
  await dispatch.publish(message, { dedupeId }, signal);
}
