import type { RunEvent } from "@reeve/contracts/run";
import type { Connection } from "@reeve/client";
import { create } from "@bufbuild/protobuf";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { everything } from "./decisions.ts";

/** The ack wait of runs: a message of a silent consumer is redelivered after this time. */
const ackWaitMs = 1_000;
const redelivered = 4;

/** Returns the redelivery times of the store alone, for messages whose consumer is silent from the start. */
export async function redeliveries(
  natsUrl: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const log = createLogger("bench", "silent");
  await using nats = await connectNats(natsUrl, { name: "bench", log }, signal);
  const queue = await openToolCallQueue(nats, { pool: "floor", ackWaitMs });
  const times: number[] = [];
  for (let turn = 0; turn < redelivered; turn++) {
    const message = create(ToolCallRequestSchema);
    await queue.publish(message, { dedupeId: `floor-${turn}` }, signal);
    let takenAt: number | undefined;
    for await (const delivery of queue.take(1, signal)) {
      if (takenAt !== undefined) {
        times.push(performance.now() - takenAt);
        delivery.acknowledge();
        break;
      }
      takenAt = performance.now();
      delivery.abandon();
    }
  }
  return times;
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
    } else if (event.case === "text" || event.case === "toolCallStarted") {
      if (this.#epoch === 1) this.#owner.resolve(this.#worker);
    }
    const isProgress = event.case === "text" || event.case === "toolResult";
    if (isProgress && this.#epoch > 1) this.#taken.resolve({ nextAt: this.#nextAt, goesOnAt: now });
  }
}
