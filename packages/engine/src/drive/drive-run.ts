import { isToken } from "@reeve/contracts/channel";
import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { isStoreFull } from "@reeve/jetstream/streams/errors";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { every } from "@reeve/platform/async/every";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { Failure } from "@reeve/platform/failure";
import { appendExternal } from "@reeve/run/commands/append-external";
import { UnknownEvent } from "../domain/state/unknown-event.ts";
import type { RunRelease, StopSignals } from "../ports/ownership.ts";
import { awaitedSequence, HandOver } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { deactivatePlugins } from "../perform/plugins/deactivate-plugins.ts";
import { inRunSpan } from "../tracing/in-run-span.ts";
import type { Claim } from "./claim-run.ts";
import { claimRun } from "./claim-run.ts";
import { ownRun } from "./owned-run.ts";
import { releaseEndedRun } from "./release-ended-run.ts";

/** How long a replica may take until it can read what was stored before the dispatch. */
const maxReplicaLagMs = 250;

/** The time after which a run is tried again that found the store full. */
const fullStoreMs = 15_000;

/** Delay before redelivery of a dispatch message that was given back without a result. */
const redelivery = { firstDelayMs: 1_000, maxDelayMs: 60_000 };
/** The same while the store does not answer. Earlier owners that died say nothing about how long that lasts. */
const outageRedelivery = { firstDelayMs: 1_000, maxDelayMs: 5_000 };

/**
 * Claims and drives the run of one dispatch message until it ends or waits for an external fact, and then settles the
 * message. The worker that holds the message owns the run; a worker that lost the message touches neither.
 */
export async function driveRun(
  delivery: Delivery<Dispatch>,
  ports: RunPorts,
  stop: StopSignals,
): Promise<void> {
  const { tenant, runId } = delivery.message;
  const logger = ports.logger.child({ tenant, runId });
  if (!isToken(tenant) || !isToken(runId)) {
    // No version can have written it, and every worker would return it.
    logger.error("a dispatch message names no run; removing it from the queue");
    return delivery.acknowledge();
  }
  try {
    // The heartbeat ends before the message is settled: a settled message cannot be extended.
    const driven = await keepingAlive(delivery, ports, () => driveDelivered(delivery, ports, stop));
    switch (driven.kind) {
      case "unfounded":
        return delivery.returnToQueue(maxReplicaLagMs);
      case "lost":
        logger.info("another worker owns the run");
        return delivery.abandon();
      case "no_room":
        return waitForRoom(delivery, logger);
      case "released":
        return delivery.returnToQueue(0);
      case "delayed":
        return delivery.returnToQueue(driven.delayMs);
      default:
        return delivery.acknowledge();
    }
  } catch (error) {
    if (stop.now.aborted) return delivery.returnToQueue(0);
    if (isStoreFull(error)) return waitForRoom(delivery, logger);
    if (isTenantKeyDeleted(error)) {
      logger.info("the key of the tenant was deleted, so its run has ended");
      return delivery.acknowledge();
    }
    if (error instanceof UnknownEvent) {
      logger.warn(
        { sequence: error.sequence },
        "the run has an event of a newer version; returning it to the queue",
      );
    } else {
      logger.error({ err: error }, "driving the run failed; returning it to the queue");
    }
    const isOutage = error instanceof Failure && error.kind === "unavailable";
    const delays = isOutage ? outageRedelivery : redelivery;
    delivery.returnToQueue(delayAfter(delivery.attempt, delays));
  }
}

/** Gives a run back because the store is full. It continues here or elsewhere when there is room. */
function waitForRoom(delivery: Delivery<Dispatch>, logger: RunPorts["logger"]): void {
  if (delivery.attempt === 1) logger.warn("the store has no room for the run; it waits for room");
  delivery.returnToQueue(fullStoreMs);
}

async function keepingAlive<Result>(
  delivery: Delivery<Dispatch>,
  { heartbeatMs }: RunPorts,
  work: () => Promise<Result>,
): Promise<Result> {
  using _ = every(heartbeatMs, () => delivery.extend());
  return await work();
}

/** `unfounded`: the log gives no reason for the message yet. */
async function driveDelivered(
  delivery: Delivery<Dispatch>,
  ports: RunPorts,
  stop: StopSignals,
): Promise<Exclude<Claim, { kind: "claimed" }> | RunRelease | { readonly kind: "unfounded" }> {
  const signal = stop.now;
  const { tenant, runId } = delivery.message;
  const key = { tenant, run: runId };
  const claim = await claimRun(key, delivery, ports, signal);
  const driven =
    claim.kind === "claimed"
      ? await inRunSpan(claim.claimed.state, () => ownRun(claim.claimed, ports, stop))
      : claim;
  const { kind, state } = driven;
  // Every dispatch has a reason in the log, but this read may be older than the reason.
  const mayLag = awaitedSequence(delivery) === 0;
  if (isUnfounded(kind) && mayLag && delivery.attempt === 1) return { kind: "unfounded" };
  // A writer may have appended after the park and died before it dispatched the run.
  if (kind === "spent") await appendExternal(ports, key, () => [], signal);
  if (kind !== "ended") return driven;
  await releaseEndedRun(state, ports, signal);
  try {
    await deactivatePlugins(state, delivery, ports, signal);
  } catch (error) {
    if (!(error instanceof HandOver)) throw error;
    return { kind: "delayed", state, delayMs: error.delayMs };
  }
  return driven;
}

/** Whether the run does not exist, or has no new fact since it was parked. */
function isUnfounded(kind: Claim["kind"] | RunRelease["kind"]): boolean {
  return kind === "absent" || kind === "spent";
}
