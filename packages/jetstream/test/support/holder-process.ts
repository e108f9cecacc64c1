import { create } from "@bufbuild/protobuf";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { openDispatchQueue } from "../../src/queue/lanes/dispatch-queue.ts";
import type { Delivery, WorkQueue } from "../../src/queue/port.ts";
import { QueueHolder } from "../../src/queue/queue-holder.ts";
import { openTable } from "../../src/table/nats.ts";

const signal = new AbortController().signal;
const log = createLogger("test", "silent");
/** So long that a message that comes again was released. */
const ackWaitMs = 600_000;

/** A process that takes from the dispatch queue. */
export class HolderProcess {
  readonly name: string;
  readonly nats: Nats;
  readonly holder: QueueHolder;
  readonly queue: WorkQueue<Dispatch>;

  private constructor(name: string, nats: Nats, holder: QueueHolder, queue: WorkQueue<Dispatch>) {
    this.name = name;
    this.nats = nats;
    this.holder = holder;
    this.queue = queue;
  }

  static async start(nats: Nats, name: string): Promise<HolderProcess> {
    const holder = await QueueHolder.open(nats, { name, log }, signal);
    const queue = await openDispatchQueue(nats, { ackWaitMs, isConsumer: true, holder });
    return new HolderProcess(name, nats, holder, queue);
  }

  async publish(runId: string): Promise<number> {
    const dispatch = create(DispatchSchema, { tenant: "acme", runId });
    return await this.queue.publish(dispatch, { dedupeId: `${runId}:${this.name}` }, signal);
  }

  /** Takes one message, as a process that has one slot. */
  async take(): Promise<Delivery<Dispatch>> {
    for await (const delivery of this.queue.take(1, signal)) return delivery;
    throw new Error("the queue ended");
  }

  /** Ends as a killed process does: its connection closes, and nothing else happens. */
  async kill(): Promise<void> {
    await this.nats.connection.close();
  }

  /** Resolves when the others can know that this process holds a message. */
  async isKnownToHold(sequence: number): Promise<void> {
    const table = await openTable(this.nats, QueueHolderSchema);
    for await (const change of table.watch("", signal)) {
      if (change.kind !== "written" || change.row.key !== this.name) continue;
      if (change.row.record.held[0]?.sequences.includes(BigInt(sequence)) === true) return;
    }
  }
}
