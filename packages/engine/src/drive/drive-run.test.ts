import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { DispatchSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { tenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { ModelFailure } from "../ports/model-provider.ts";
import { countingModel, textOf } from "../../test/support/models.ts";
import { driveRun } from "./drive-run.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

describe("driving a run", () => {
  test("drives it to its end", async () => {
    const bench = await new WorkerBench(countingModel(1)).create();
    expect(await bench.drive("w")).toBe("acknowledged");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 continuesturn 1 continues");
    expect(bench.executed).toHaveLength(1);
  });

  test("continues wherever the previous worker died, and repeats no finished call", async () => {
    const whole = await new WorkerBench(countingModel(2)).create();
    await whole.drive("w1");
    const history = await whole.events();
    for (let survived = 1; survived <= history.length; survived++) {
      const bench = new WorkerBench(countingModel(2));
      const tail = await bench.log.append(key, emptyTail, history.slice(0, survived), never);
      expect(tail.kind).toBe("appended");
      await bench.drive("w2");
      const events = await bench.events();
      expectWhole(events, RunStatus.COMPLETED);
      const done = history
        .slice(0, survived)
        .filter(({ event }) => event.case === "toolResult").length;
      expect(bench.executed).toHaveLength(2 - done);
      expect(new Set(bench.executed).size).toBe(bench.executed.length);
    }
  });

  test("repeats a model call after a retryable failure, and voids the text of the failed attempt", async () => {
    const failures = [
      new ModelFailure("unavailable", "busy"),
      new ModelFailure("rate_limited", "slow"),
    ];
    const bench = await new WorkerBench(countingModel(0, failures)).create();
    await bench.drive("w");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(2);
    expect(foldHead(emptyHead, events).status).toBe(RunStatus.COMPLETED);
  });

  test("gives up a run of a tenant whose key was deleted, before it works and while it does", async () => {
    for (let appends = 0; appends < 4; appends++) {
      const bench = await new WorkerBench(countingModel(1)).create();
      const append = bench.log.append.bind(bench.log);
      let left = appends;
      bench.log.append = async (...given) => {
        if (left-- <= 0) throw tenantKeyDeleted(key.tenant);
        return await append(...given);
      };
      expect(await bench.drive("w")).toBe("acknowledged");
    }
  });

  // Requirement: RES-2
  test("records with each failed model call its attempt, its provider, and the delay by the policy of the run", async () => {
    const asked = { retryAfterMs: 3_000 };
    const failures = [
      new ModelFailure("unavailable", "busy"),
      new ModelFailure("rate_limited", "slow", asked),
    ];
    const bench = new WorkerBench(countingModel(0, failures));
    await bench.create({ retry: { initialBackoff: { seconds: 2n } } });
    await bench.drive("w");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const failed = events.flatMap(({ event }) =>
      event.case === "modelCallFailed" ? [event.value] : [],
    );
    expect(failed).toMatchObject([
      { attempt: 1, provider: "test", reason: "unavailable" },
      { attempt: 2, provider: "test", reason: "rate_limited" },
    ]);
    const delays = failed.map(({ retryDelay }) => retryDelay && durationMs(retryDelay));
    expect(delays[0]).toBeGreaterThanOrEqual(1_000);
    expect(delays[0]).toBeLessThanOrEqual(2_000);
    expect(delays[1]).toBeGreaterThanOrEqual(3_000);
    const { prepared } = foldHead(emptyHead, events);
    expect(prepared?.retry).toMatchObject({ maxRetries: 100, maxElapsed: { seconds: 3_600n } });
  });

  test("waits for a provider that its worker does not have", async () => {
    const bench = await new WorkerBench(countingModel(0)).create();
    let isMissing = true;
    const ports = bench.ports("w");
    const provider = (name: string) => {
      if (!isMissing) return ports.provider(name);
      isMissing = false;
      return undefined;
    };
    await bench.drive("w", 1, undefined, 1, { ...ports, provider });
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const [failed] = events.filter(({ event }) => event.case === "modelCallFailed");
    expect(failed?.event.value).toMatchObject({ reason: "not_configured", retryable: true });
  });

  test("ends the run with the reason when its model fails permanently", async () => {
    const bench = await new WorkerBench(
      countingModel(0, [new ModelFailure("invalid", "no such model")]),
    ).create();
    await bench.drive("w");
    const events = await bench.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.message).toContain("no such model");
  });

  // Requirement: RES-1
  test("ends a run whose model cannot be resolved, with the reason", async () => {
    const bench = await new WorkerBench(countingModel(0)).create({ model: "nobody:x" });
    await bench.drive("w");
    const events = await bench.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("resolve_failed");
  });
});

describe("two workers", () => {
  // Requirement: DUR-4
  test("with the same message: the later claim wins, and the run ends once", async () => {
    const bench = await new WorkerBench(countingModel(3)).create();
    const settled = await Promise.all([bench.drive("w1"), bench.drive("w2")]);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(settled.toSorted()).toEqual(["acknowledged", "forgotten"]);
    expect(new Set(bench.executed).size).toBe(bench.executed.length);
  });

  test("with different messages: the second leaves the run to the first", async () => {
    const bench = await new WorkerBench(countingModel(3)).create();
    const settled = await Promise.all([bench.drive("w1", 1), bench.drive("w2", 2)]);
    expect(settled).toEqual(["acknowledged", "acknowledged"]);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "runClaimed")).toHaveLength(1);
  });
});

// Requirement: CAN-1
test("a run that is cancelled during a tool call ends there, and its open calls are withdrawn", async () => {
  const bench = await new WorkerBench(countingModel(1)).create();
  const requested = Promise.withResolvers<string>();
  bench.onRequest = (callId) => {
    requested.resolve(callId);
    return "hold";
  };
  const driving = bench.drive("w1");
  const call = await requested.promise;
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await appendExternal({ log: bench.log, dispatch: bench.dispatch }, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
  expectWhole(await bench.events(), RunStatus.CANCELLED);
  const { events: facts } = await bench.journal.read({ ...key, call }, emptyTail, never);
  expect(facts.map(({ fact }) => fact.case)).toEqual(["cancelled"]);
});

test("a run with an event of a newer version is given back unchanged", async () => {
  const bench = await new WorkerBench(countingModel(0)).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await bench.log.append(key, (await bench.log.read(key, emptyTail, never)).tail, [unknown], never);
  expect(await bench.drive("w")).toBe("given back");
  expect(await bench.events()).toHaveLength(2);
});

test.each([
  ["is empty", {}],
  ["names no tenant", { runId: "run_1" }],
  ["names a run that no subject can have", { tenant: "acme", runId: "run.>" }],
])("a dispatch message that %s is removed from the queue", async (_, fields) => {
  const settled: string[] = [];
  const delivery = {
    message: create(DispatchSchema, fields),
    sequence: 1,
    attempt: 1,
    extend: () => undefined,
    acknowledge: () => void settled.push("acknowledged"),
    returnToQueue: () => void settled.push("returned"),
    abandon: () => void settled.push("abandoned"),
  };
  // The log of a store refuses such a key. The one in memory does not.
  const ports = new WorkerBench(countingModel(0)).ports("w");
  const log = { ...ports.log, read: () => Promise.reject(new RangeError("not a valid run")) };
  await driveRun(delivery, { ...ports, log }, { now: never, drain: never });
  expect(settled).toEqual(["acknowledged"]);
});
