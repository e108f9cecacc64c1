import type { RunEvent } from "@reeve/contracts/run";
import type { Connection } from "@reeve/client";
import { create } from "@bufbuild/protobuf";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { everything } from "./decisions.ts";

/** The ack-wait of runs; a message whose taker says nothing at all is offered again so long after it was taken. */
const ackWaitMs = 1_000;
const redelivered = 4;

/** How long the store takes, by itself, to offer a message again whose taker fell silent as soon as it had it. */
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

/** How long a run was silent whose worker was killed, in milliseconds since then. */
export interface Taken {
  readonly agentId: string;
  /** Until the first event of the worker that took it over. */
  readonly nextEventMs: number;
  /** Until a client had something of it: a token, or the result of the call. */
  readonly goesOnMs: number;
}

/** A run that is watched from its start, and what was seen of it. */
export class Watched {
  readonly runId: string;
  readonly #agentId: string;
  /** The worker that has it, once it does what its agent is for: it streams, or waits for a tool. */
  readonly underWay: Promise<string>;
  readonly #underWay = Promise.withResolvers<string>();
  readonly #taken = Promise.withResolvers<{ nextAt: number; goesOnAt: number }>();
  #worker = "";
  #epoch = 0;
  #nextAt = 0;

  private constructor(runId: string, agentId: string) {
    this.runId = runId;
    this.#agentId = agentId;
    this.underWay = this.#underWay.promise;
    // Whoever is not owned by the victim is not waited for.
    this.#taken.promise.catch(() => undefined);
  }

  static async start(reeve: Connection, agentId: string, signal: AbortSignal): Promise<Watched> {
    const { run } = await reeve.runs.startRun({ agentId, input: "go" }, { signal });
    const watched = new Watched(run?.runId ?? "", agentId);
    void watched.#watch(reeve, signal);
    return watched;
  }

  /** When it went on after its worker was killed at `killedAt`. */
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
      this.#underWay.reject(error);
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
      if (this.#epoch === 1) this.#underWay.resolve(this.#worker);
    }
    const goesOn = event.case === "text" || event.case === "toolResult";
    if (goesOn && this.#epoch > 1) this.#taken.resolve({ nextAt: this.#nextAt, goesOnAt: now });
  }
}
