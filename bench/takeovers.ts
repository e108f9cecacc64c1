import type { RunEvent } from "@reeve/contracts/run";
import type { Connection } from "@reeve/client";
import { create } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import type { Delivery, WorkQueue } from "@reeve/jetstream/queue/port";
import { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import { sleep } from "@reeve/platform/async/sleep";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { everything } from "./decisions.ts";

/** So long that a message that comes again was released. */
const ackWaitMs = 600_000;
const redelivered = 4;

/** Returns the times after which the store redelivers a message whose taker was killed, without a run. */
export async function redeliveries(
  natsUrl: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  await using taker = await Taker.open(natsUrl, "bench-taker", signal);
  const times: number[] = [];
  for (let turn = 0; turn < redelivered; turn++) {
    const killed = await Taker.open(natsUrl, `bench-killed-${turn}`, signal);
    const message = create(ToolCallRequestSchema);
    await killed.queue.publish(message, { dedupeId: `floor-${turn}` }, signal);
    await killed.take(signal);
    // Until the others know what it holds.
    await sleep(500, signal);
    const killedAt = performance.now();
    await killed.nats.connection.close();
    const delivery = await taker.take(signal);
    times.push(performance.now() - killedAt);
    delivery.acknowledge();
  }
  return times;
}

/** A process that takes from a queue. */
class Taker implements AsyncDisposable {
  readonly nats: Nats;
  readonly queue: WorkQueue<ToolCallRequest>;
  readonly #holder: QueueHolder;

  private constructor(nats: Nats, queue: WorkQueue<ToolCallRequest>, holder: QueueHolder) {
    this.nats = nats;
    this.queue = queue;
    this.#holder = holder;
  }

  static async open(natsUrl: string, name: string, signal: AbortSignal): Promise<Taker> {
    const log = createLogger("bench", "silent");
    const nats = await connectNats(natsUrl, { name, log }, signal);
    const holder = await QueueHolder.open(nats, { name, log }, signal);
    const queue = await openToolCallQueue(nats, { pool: "floor", ackWaitMs, holder });
    return new Taker(nats, queue, holder);
  }

  async take(signal: AbortSignal): Promise<Delivery<ToolCallRequest>> {
    for await (const delivery of this.queue.take(1, signal)) return delivery;
    throw new Error("the queue ended");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#holder[Symbol.asyncDispose]();
    await this.nats[Symbol.asyncDispose]();
  }
}

/** The interruption of a run whose worker was killed, in milliseconds after the kill. */
export interface Taken {
  readonly agentId: string;
  /** Until the first event of the new worker. */
  readonly nextEventMs: number;
  /** Until a client received progress: a token, or the call's result. */
  readonly goesOnMs: number;
}

/** A run that is watched from its start. */
export class Watched {
  readonly runId: string;
  readonly #agentId: string;
  /** The worker that owns the run, once the run streams or waits for a tool. */
  readonly owner: Promise<string>;
  readonly #owner = Promise.withResolvers<string>();
  readonly #taken = Promise.withResolvers<{ nextAt: number; goesOnAt: number }>();
  #worker = "";
  #epoch = 0;
  #nextAt = 0;

  private constructor(runId: string, agentId: string) {
    this.runId = runId;
    this.#agentId = agentId;
    this.owner = this.#owner.promise;
    // Runs of other workers are not awaited.
    this.#taken.promise.catch(() => undefined);
  }

  static async start(reeve: Connection, agentId: string, signal: AbortSignal): Promise<Watched> {
    const { run } = await reeve.runs.startRun({ agentId, input: "go" }, { signal });
    const watched = new Watched(run?.runId ?? "", agentId);
    void watched.#watch(reeve, signal);
    return watched;
  }

  /** Resolves with the interruption after the worker was killed at `killedAt`. */
  async takenAfter(killedAt: number): Promise<Taken> {
    const { nextAt, goesOnAt } = await this.#taken.promise;
    const [nextEventMs, goesOnMs] = [nextAt - killedAt, goesOnAt - killedAt];
    return { agentId: this.#agentId, nextEventMs, goesOnMs };
  }

  async #watch(reeve: Connection, signal: AbortSignal): Promise<void> {
    const { runId } = this;
    try {
      const stream = reeve.runs.watchRun({ runId, selection: everything }, { signal });
      for await (const { events } of stream) for (const event of events) this.#see(event);
      throw new Error(`run ${runId} ended before its worker was killed`);
    } catch (error) {
      this.#owner.reject(error);
      this.#taken.reject(error);
    }
  }

  #see({ event }: RunEvent): void {
    const now = performance.now();
    if (event.case === "runClaimed") {
      this.#worker = event.value.worker;
      this.#epoch = event.value.epoch;
      if (this.#epoch === 2) this.#nextAt = now;
    }
    // The text of an agent at an endpoint is shown as reasoning.
    const isText = event.case === "text" || event.case === "reasoning";
    const isUnderWay = isText || event.case === "toolCallStarted";
    if (isUnderWay && this.#epoch === 1) this.#owner.resolve(this.#worker);
    const isProgress = isText || event.case === "toolResult";
    if (isProgress && this.#epoch > 1) this.#taken.resolve({ nextAt: this.#nextAt, goesOnAt: now });
  }
}
