import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { abortable } from "@reeve/platform/async/abortable";
import { every } from "@reeve/platform/async/every";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import type { RuntimePorts } from "../port.ts";
import { ActivityDelivery } from "./activity-delivery.ts";
import type { OwnerPorts } from "./await-owner.ts";
import { awaitSilentOwner } from "./await-owner.ts";
import type { OwnerOutcome, OwnedRun, RunActivities } from "./contract.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { outcomeOf } from "./owner-outcome.ts";
import type { ActivityContext } from "./sdk.ts";

/** The person in the log for a cancellation in Temporal, who is known only there. */
const canceller = { requestedBy: "temporal", reason: "the workflow of the run was cancelled" };

/** Time limit for what an activity does for a run that no owner has. */
const requestMs = 30_000;

/** What activities use of the ports of a runtime. */
type ActivityPorts = Pick<RuntimePorts, "journal"> & {
  readonly holder: Pick<RuntimePorts["holder"], "carry">;
} & OwnerPorts & {
    readonly dispatch: Pick<RuntimePorts["dispatch"], "publish">;
    readonly clock: Pick<RuntimePorts["clock"], "now">;
  };

export interface ActivityOptions {
  readonly ports: ActivityPorts;
  readonly heartbeats: Pick<Heartbeats, "intervalMs" | "graceMs">;
  /** Returns the activity that calls. */
  readonly context: () => ActivityContext;
  /** Gives a run to this worker. Returns false if it takes no more. */
  readonly offer: (delivery: Delivery<Dispatch>) => boolean;
}

/** Returns the activities of workflows. An owner reports only how it has left the run: everything else is in the run's log. */
export function runActivities({
  ports,
  heartbeats,
  context,
  offer,
}: ActivityOptions): RunActivities {
  /** The runs that this worker has, by their ids. */
  const deliveries = new Map<string, ActivityDelivery>();
  const outcomeAfter = async (
    { tenant, run }: OwnedRun,
    delivery: ActivityDelivery,
  ): Promise<OwnerOutcome> => {
    const attempts = delivery.attempt;
    const settlement = await delivery.settled;
    switch (settlement.kind) {
      case "returned":
        return { kind: "again", delayMs: settlement.delayMs, attempts };
      case "abandoned":
        return { kind: "elsewhere", attempts };
      case "acknowledged":
        return { ...(await outcomeOf(ports, { tenant, run }, timeLimit())), attempts };
    }
  };
  return {
    async ownRun(owned) {
      const activity = context();
      // By time, from before the worker has the run until it has left it: whatever the run does, it keeps its worker.
      using owning = new DisposableStack();
      owning.use(every(heartbeats.intervalMs, () => activity.heartbeat()));
      owning.use(ports.holder.carry(owned.run));
      if (activity.info.attempt > 1) {
        const { tenant, run } = owned;
        const { cancellationSignal: signal } = activity;
        // Temporal may have taken an attempt of this worker for lost: a second claim would end the first one, which works.
        const earlier = deliveries.get(run);
        if (earlier !== undefined) await abortable(earlier.settled, signal);
        await awaitSilentOwner(ports, { tenant, run }, heartbeats.graceMs, signal);
      }
      const delivery = new ActivityDelivery(owned, activity.info.attempt);
      deliveries.set(owned.run, delivery);
      owning.defer(() => {
        if (deliveries.get(owned.run) === delivery) deliveries.delete(owned.run);
      });
      if (!offer(delivery)) delivery.returnToQueue(0);
      return await outcomeAfter(owned, delivery);
    },
    async cancelRun({ tenant, run }) {
      await cancelRun(ports, { tenant, run }, canceller, timeLimit());
    },
  };
}

/** What fails is tried again by Temporal. */
function timeLimit(): AbortSignal {
  return AbortSignal.timeout(requestMs);
}
