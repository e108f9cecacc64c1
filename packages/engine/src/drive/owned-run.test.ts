import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

/** A bench whose appends pass through `append`. */
class AppendingBench extends WorkerBench {
  readonly clock = new HastyClock();
  append: RunLog["append"] = (...args) => this.log.append(...args);

  override ports(worker: string): RunPorts {
    const { log, clock } = this;
    const append: RunLog["append"] = (...args) => this.append(...args);
    const read: RunLog["read"] = (...args) => log.read(...args);
    const follow: RunLog["follow"] = (...args) => log.follow(...args);
    const ports = super.ports(worker);
    // The delays before a lost request is republished never end in a bench.
    const sleep: RunPorts["clock"]["sleep"] = async (delayMs, signal) =>
      await (delayMs < 10_000 ? clock : ports.clock).sleep(delayMs, signal);
    return {
      ...ports,
      log: { append, read, follow },
      clock: { now: () => clock.now(), sleep },
      steadyClock: clock,
    };
  }
}

describe("the owner of a run", () => {
  test("has at most one append in flight", async () => {
    const bench = await new AppendingBench(countingModel(3)).create();
    let inFlight = 0;
    let max = 0;
    bench.append = async (...args) => {
      max = Math.max(max, ++inFlight);
      // Long enough for the model and the tools to yield more facts.
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      const outcome = await bench.log.append(...args);
      inFlight--;
      return outcome;
    };
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(max).toBe(1);
  });

  test.each([
    ["while it works", "toolCallStarted", [190n, 190n]],
    ["while it claims the run", "runClaimed", [190n]],
  ])("does not count the time for which it stood still %s", async (_, fact, recorded) => {
    const budgets = { maxWallClock: { seconds: 60n } };
    const bench = await new AppendingBench(countingModel(2)).create({ budgets });
    bench.append = async (to, tail, events, signal) => {
      const outcome = await bench.log.append(to, tail, events, signal);
      if (events.some(({ event }) => event.case === fact)) {
        bench.standstillMs += 190_609.474282;
        await bench.clock.advance(190_000);
      }
      return outcome;
    };
    await bench.drive("w");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const stoodStill = events.flatMap(({ standstill }) => standstill?.seconds ?? []);
    expect(stoodStill).toEqual(recorded);
  });

  test("waits for two round trips after a lost append", async () => {
    const bench = await new AppendingBench(countingModel(1)).create({ hitlTools: ["count"] });
    const roundTripMs = 30;
    bench.append = async (to, tail, events, signal) => {
      if (events.some(({ event }) => event.case === "runParked")) {
        bench.append = (...args) => bench.log.append(...args);
        await bench.decide(ApprovalState.APPROVED);
        await bench.clock.advance(roundTripMs);
      }
      return await bench.log.append(to, tail, events, signal);
    };
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.clock.delaysMs).toEqual([2 * roundTripMs]);
  });

  test("waits no longer than a second after a lost append", async () => {
    const bench = await new AppendingBench(countingModel(1)).create({ hitlTools: ["count"] });
    bench.append = async (to, tail, events, signal) => {
      if (events.some(({ event }) => event.case === "runParked")) {
        bench.append = (...args) => bench.log.append(...args);
        await bench.decide(ApprovalState.APPROVED);
        await bench.clock.advance(15_000);
      }
      return await bench.log.append(to, tail, events, signal);
    };
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.clock.delaysMs).toEqual([1_000]);
  });

  test("gives up on a log that refuses every append and shows no other writer", async () => {
    const bench = await new AppendingBench(countingModel(1)).create();
    let refused = 0;
    bench.append = async (to, tail, events, signal) => {
      if (tail.sequence <= 1) return await bench.log.append(to, tail, events, signal);
      refused++;
      return { kind: "conflict" };
    };
    expect(await bench.drive("w")).toBe("given back");
    expect(refused).toBe(20);
  });
});

const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");

test.each(["owned-run.ts", "claim-run.ts"])(
  "the invariants of %s name tests that exist",
  (file) => {
    const cited = [...read(file).matchAll(/Test: (\S+\.test\.ts), "(.+)"$/gm)];
    expect(cited.length).toBeGreaterThanOrEqual(8);
    for (const [, name = "", title = ""] of cited) expect(read(name)).toContain(`"${title}"`);
  },
);
