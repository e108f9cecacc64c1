import { setTimeout as wait } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { DispatchSchema } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import type { Cluster } from "./cluster.ts";

/** The queues of work. */
const queues = ["DISPATCH", "TOOL_CALLS"];
/** How long nothing is delivered once all is done: what nobody acknowledged is delivered again after a second. */
const quietMs = 3_000;
const patienceMs = 60_000;
const pauseMs = 250;

interface Queue {
  readonly messages: number;
  /** Messages that nobody has got yet. */
  readonly waiting: number;
  /** How many deliveries there have been. */
  readonly delivered: number;
  readonly said: string;
}

/**
 * Waits until the queues give out no more work; what they still give out after a while, in words. A server that is killed
 * may forget that it deleted a message which was acknowledged, so that messages alone mean nothing.
 */
export async function settled({ nats }: Cluster): Promise<readonly string[]> {
  const givesUpAt = performance.now() + patienceMs;
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
      return [`work is left: ${found.map(({ said }) => said).join("; ")}`];
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

/** What the queue of runs knows of a run that does not go on: its claims, and what became of the messages behind them. */
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
      found === null ? "is gone" : `is there, for ${fromBinary(DispatchSchema, found.data).runId}`;
    claims.push(`${sequence} by ${event.value.worker} for message ${seq}, which ${whose}`);
  }
  return `claims: ${claims.join("; ")}; messages ${state.first_seq} to ${state.last_seq}; ${queue.said}`;
}
