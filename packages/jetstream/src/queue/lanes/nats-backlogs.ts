import type { JetStreamManager } from "@nats-io/jetstream";
import type { LanesTemplate } from "@reeve/contracts/channel";
import type { LaneBacklogs } from "./lane-choice.ts";

/** Returns the name of the durable consumer of a lane. */
export function laneConsumer(lane: number): string {
  return `lane-${lane}`;
}

/** Returns the backlogs of the lanes of a stream. Their methods reject when the store does not answer. */
export function natsBacklogs(
  manager: JetStreamManager,
  stream: string,
  lanes: LanesTemplate,
): LaneBacklogs {
  return {
    count: lanes.count,
    waiting: async (lane) => (await manager.consumers.info(stream, laneConsumer(lane))).num_pending,
    ofTenant: async (lane, tenant) => {
      const subject = lanes.subject(lane, tenant);
      const { state } = await manager.streams.info(stream, { subjects_filter: subject });
      return state.subjects?.[subject] ?? 0;
    },
  };
}
