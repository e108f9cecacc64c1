import { setTimeout as wait } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import type { JetStreamManager } from "@nats-io/jetstream";
import { jetstreamManager } from "@nats-io/jetstream";
import { DispatchSchema } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { Cluster } from "./cluster.ts";

/** The queues of work, and whose work a message is. */
const queues: Readonly<Record<string, (message: Uint8Array) => string>> = {
  DISPATCH: (message) => fromBinary(DispatchSchema, message).runId,
  TOOL_CALLS: (message) => fromBinary(ToolCallRequestSchema, message).call?.callId ?? "",
};
const patienceMs = 30_000;
const pauseMs = 200;

/** Waits until no work is left in the queues; what is left after a while, in words. */
export async function settled({ nats }: Cluster): Promise<readonly string[]> {
  const givesUpAt = performance.now() + patienceMs;
  for (;;) {
    const left = await remaining(nats).catch((error: unknown) => [String(error)]);
    if (left.length === 0 || performance.now() > givesUpAt) return left;
    await wait(pauseMs);
  }
}

async function remaining({ connection }: Cluster["nats"]): Promise<readonly string[]> {
  const manager = await jetstreamManager(connection);
  const left: string[] = [];
  for (const [name, nameOf] of Object.entries(queues)) {
    const { state } = await manager.streams.info(name);
    const { floor: settledThrough, said } = await consumersOf(manager, name);
    // Of what was acknowledged, a server that is killed may forget that it has deleted it.
    for (let seq = Math.max(state.first_seq, settledThrough + 1); seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(name, { seq }).catch(() => null);
      if (message !== null)
        left.push(`${name} still holds ${seq} for ${nameOf(message.data)}: ${said}`);
    }
  }
  return left;
}

/** Up to where every message was acknowledged, and what the consumers say of themselves. */
async function consumersOf(manager: JetStreamManager, stream: string) {
  let floor = Number.POSITIVE_INFINITY;
  const said: string[] = [];
  for await (const info of manager.consumers.list(stream)) {
    const {
      delivered,
      ack_floor: acknowledged,
      num_ack_pending: open,
      num_pending: waiting,
    } = info;
    floor = Math.min(floor, acknowledged.stream_seq);
    said.push(
      `${info.name} delivered ${delivered.stream_seq}, floor ${floor}, ${open} open, ${waiting} waiting, ` +
        `${info.num_redelivered} again, ${info.num_waiting} pulls`,
    );
  }
  return { floor, said: said.join("; ") };
}
