import { UnknownEvent } from "../domain/state/unknown-event.ts";
import type { Dispatch } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { RunPorts } from "../ports/run-ports.ts";
import type { Claim } from "./claim-run.ts";
import { claimRun } from "./claim-run.ts";
import { heartbeat } from "./heartbeat.ts";
import type { StopSignals } from "./owned-run.ts";
import type { RunRelease } from "../ports/ownership.ts";
import { ownRun } from "./owned-run.ts";
import { leaveThread } from "./leave-thread.ts";
import { releaseCalls } from "./release-calls.ts";
import { restAfterFailure } from "./rest-after-failure.ts";
import { inRunSpan } from "../tracing/in-run-span.ts";

/** A replica answers a read by what it has: how long it may take until it has what was stored before. */
const maxLagMs = 250;

/**
 * Takes one dispatch message to the point where the run rests: ended, or waiting for somebody else. Whoever holds the
 * message owns the run; a worker that lost it leaves message and run alone.
 */
export async function driveRun(
  delivery: Delivery<Dispatch>,
  ports: RunPorts,
  stop: StopSignals,
): Promise<void> {
  const signal = stop.now;
  const { tenant, runId } = delivery.message;
  const logger = ports.logger.child({ tenant, runId });
  const key = { tenant, run: runId };
  using beat = heartbeat(delivery, ports.heartbeatMs);
  try {
    const claim = await claimRun(key, delivery, ports, signal);
    const rest =
      claim.kind === "claimed"
        ? await inRunSpan(claim.claimed.state, () => ownRun(claim.claimed, ports, stop))
        : { kind: claim.kind, state: claim.state };
    // What nobody dispatches without a reason may be read where its reason has not arrived yet.
    if (isUnfounded(rest.kind) && delivery.attempt === 1) {
      beat.stop();
      return delivery.returnToQueue(maxLagMs);
    }
    // Whoever wrote after the run was parked may have died before it said so.
    if (rest.kind === "spent") await appendExternal(ports, key, () => [], signal);
    if (rest.kind === "ended") {
      await releaseCalls(rest.state, ports, signal);
      await leaveThread(rest.state, ports, signal);
    }
    beat.stop();
    switch (rest.kind) {
      case "lost":
        logger.info("another worker owns the run");
        return delivery.abandon();
      case "released":
        return delivery.returnToQueue(0);
      default:
        return delivery.acknowledge();
    }
  } catch (error) {
    beat.stop();
    if (signal.aborted) return delivery.returnToQueue(0);
    if (error instanceof UnknownEvent) {
      logger.warn({ sequence: error.sequence }, "a newer version wrote this run; giving it back");
      return delivery.returnToQueue(restAfterFailure(delivery.attempt));
    }
    logger.error({ err: error }, "run could not be driven; giving it back");
    delivery.returnToQueue(restAfterFailure(delivery.attempt));
  }
}

/** Whether the log gives no reason for the message: there is no such run, or nothing came since it was parked. */
function isUnfounded(kind: Claim["kind"] | RunRelease["kind"]): boolean {
  return kind === "absent" || kind === "spent";
}
