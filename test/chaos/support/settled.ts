import { setTimeout as wait } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { DispatchSchema } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import type { Cluster } from "./cluster.ts";

/** The work queues. */
const queues = ["DISPATCH", "TOOL_CALLS"];
/** How long no delivery may happen before a queue counts as settled: unacknowledged messages are redelivered after a second. */
const quietMs = 3_000;
const settleTimeoutMs = 60_000;
const pauseMs = 250;

interface Queue {
  readonly messages: number;
  /** Messages that were never delivered. */
  readonly waiting: number;
  /** The number of deliveries so far. */
  readonly delivered: number;
  readonly said: string;
}

/**
 * Waits until the queues deliver no more work. Returns a description of work that remains after a timeout. A killed server may
 * forget that it deleted an acknowledged message, so the number of messages alone proves nothing.
 */
export async function settled({ nats }: Cluster): Promise<readonly string[]> {
  const givesUpAt = performance.now() + settleTimeoutMs;
  let before = "";
  let quietSince = performance.now();
  for (;;) {
    const found = await Promise.all(queues.map((name) => queueOf(nats, name))).catch(() => []);
    const now = JSON.stringify(found.map(({ delivered }) => delivered));
    if (now !== before) quietSince = performance.now();
    before = now;
    const isDone = found.length > 0 && found.every(({ waiting }) => waiting === 0);
    const isEmpty = isDone && found.every(({ messages }) => messages === 0);
    if (isEmpty || (isDone && performance.now() - quietSince > quietMs)) return [];
    if (performance.now() > givesUpAt)
      return [`work remains: ${found.map(({ said }) => said).join("; ")}`];
    await wait(pauseMs);
  }
}

async function queueOf(
  { connection }: Pick<Cluster["nats"], "connection">,
  name: string,
): Promise<Queue> {
  const manager = await openJetStreamManager(connection);
  const { messages } = (await manager.streams.info(name)).state;
  let [waiting, delivered] = [0, 0];
  let open = 0;
  let last = 0;
  for await (const info of manager.consumers.list(name)) {
    waiting += info.num_pending;
    delivered += info.delivered.consumer_seq;
    open += info.num_ack_pending;
    last = Math.max(last, info.delivered.stream_seq);
  }
  const said = `${name} has ${messages} messages, ${waiting} never delivered, ${open} unacknowledged, and made ${delivered} deliveries, up to message ${last}`;
  return { messages, waiting, delivered, said };
}

/** Describes the dispatch queue's view of a run without progress: its claims, and the messages behind them. */
export async function lostDispatch(
  { connection }: Pick<Cluster["nats"], "connection">,
  stored: readonly RunEvent[],
): Promise<string> {
  const manager = await openJetStreamManager(connection);
  const { state } = await manager.streams.info("DISPATCH");
  const queue = await queueOf({ connection }, "DISPATCH");
  const claims: string[] = [];
  for (const { event, sequence } of stored) {
    if (event.case !== "runClaimed") continue;
    const seq = Number(event.value.dispatchSequence);
    const found = await manager.streams.getMessage("DISPATCH", { seq }).catch(() => null);
    const whose =
      found === null
        ? "is gone"
        : `is in the queue, for ${fromBinary(DispatchSchema, found.data).runId}`;
    claims.push(`${sequence} by ${event.value.worker} for message ${seq}, which ${whose}`);
  }
  return `claims: ${claims.join("; ")}; messages ${state.first_seq} to ${state.last_seq}; ${queue.said}`;
}
