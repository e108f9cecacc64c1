import { setImmediate as macrotask } from "node:timers/promises";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";
import type { ModelProvider } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";

const never = new AbortController().signal;
const runs = 100;
const callMs = 10_000;
const stepMs = 5_000;
const outage = { fromMs: 60_000, toMs: 660_000 };
/** Turns of the event loop without a call of a model, after which only the clock can continue the runs. */
const quietTurns = 10;

/** A hundred runs in simulated time, which one provider answers except during its outage. */
class Outage {
  readonly clock = new ManualClock();
  readonly benches: WorkerBench[] = [];
  /** How many runs a worker holds. */
  held = 0;
  unfinished = runs;
  #calls = 0;

  /** Starts each run a second after the one before. */
  start(): void {
    for (let index = 0; index < runs; index++) {
      const bench = new WorkerBench(this.#provider());
      this.benches.push(bench);
      void this.#play(bench, index * 1_000);
    }
  }

  /** Advances the time by a step whenever nothing else can happen. */
  async advanceTo(timeMs: number): Promise<void> {
    while (this.clock.now() < timeMs && this.unfinished > 0) {
      await this.#untilQuiet();
      await this.clock.advance(stepMs);
    }
    await this.#untilQuiet();
  }

  async #untilQuiet(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      const before = this.#calls;
      await macrotask();
      if (this.#calls !== before) quiet = 0;
    }
  }

  /** Takes the message of a run again and again, each time with another worker, as the queue delivers it. */
  async #play(bench: WorkerBench, startMs: number): Promise<void> {
    await this.clock.sleep(startMs, never);
    await bench.create();
    for (let attempt = 1; ; attempt++) {
      const ports = bench.ports(`w${attempt}`);
      this.held += 1;
      const settled = await bench.drive(ports.worker, 1, undefined, attempt, {
        ...ports,
        clock: this.clock,
        maxHeldWaitMs: 5_000,
      });
      this.held -= 1;
      if (settled === "acknowledged") break;
      await this.clock.sleep(bench.redeliveryDelaysMs.at(-1) ?? 0, never);
    }
    this.unfinished -= 1;
  }

  #provider(): ModelProvider {
    const model = countingModel(2);
    const assertUp = () => {
      this.#calls += 1;
      const nowMs = this.clock.now();
      if (nowMs >= outage.fromMs && nowMs < outage.toMs) {
        throw new ModelFailure("unavailable", "test cannot be reached");
      }
    };
    const { clock } = this;
    return {
      ...model,
      async *stream(request, signal) {
        assertUp();
        await clock.sleep(callMs, signal);
        assertUp();
        yield* model.stream(request, signal);
      },
    };
  }
}

function failuresIn(events: readonly RunEvent[]) {
  return events.flatMap(({ event }) => (event.case === "modelCallFailed" ? [event.value] : []));
}

// Requirement: DUR-3
test(
  "a provider that is down for ten minutes ends none of a hundred runs, and no call is repeated",
  { timeout: 120_000 },
  async () => {
    const played = new Outage();
    played.start();
    await played.advanceTo(outage.fromMs + 300_000);
    // The runs wait in the queue. A worker holds only those that make an attempt right now.
    expect(played.held).toBeLessThan(10);
    expect(played.unfinished).toBeGreaterThan(runs / 2);
    await played.advanceTo(3_600_000);
    expect(played.unfinished).toBe(0);
    let waits = 0;
    for (const bench of played.benches) {
      const events = await bench.events();
      expectWhole(events, RunStatus.COMPLETED);
      expect(bench.executed).toHaveLength(2);
      expect(new Set(bench.executed).size).toBe(2);
      const failures = failuresIn(events);
      waits += failures.length;
      // Each wait says what a person needs to know: who, which attempt, and how long.
      for (const failure of failures) {
        expect(failure).toMatchObject({ provider: "test", reason: "unavailable" });
        expect(failure.attempt).toBeGreaterThan(0);
        expect(failure.retryDelay).toBeDefined();
      }
    }
    expect(waits).toBeGreaterThan(runs / 2);
    // They are all done a little more than the longest delay after the end of the outage.
    expect(played.clock.now()).toBeLessThan(outage.toMs + 60_000 + 4 * callMs);
  },
);
