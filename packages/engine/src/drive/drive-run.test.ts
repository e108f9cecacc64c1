import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { ModelFailure } from "../ports/model-provider.ts";
import { countingModel, textOf } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

describe("driving a run", () => {
  test("takes it to its end in a few appends", async () => {
    const stage = await new WorkerBench(countingModel(1)).create();
    expect(await stage.drive("w")).toBe("acknowledged");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 goes onturn 1 goes on");
    expect(stage.executed).toHaveLength(1);
  });

  test("goes on wherever the worker before it died, and makes no finished call again", async () => {
    const whole = await new WorkerBench(countingModel(2)).create();
    await whole.drive("w1");
    const history = await whole.events();
    for (let survived = 1; survived <= history.length; survived++) {
      const stage = new WorkerBench(countingModel(2));
      const tail = await stage.log.append(key, emptyTail, history.slice(0, survived), never);
      expect(tail.kind).toBe("appended");
      await stage.drive("w2");
      const events = await stage.events();
      expectWhole(events, RunStatus.COMPLETED);
      const done = history
        .slice(0, survived)
        .filter(({ event }) => event.case === "toolResult").length;
      expect(stage.executed).toHaveLength(2 - done);
      expect(new Set(stage.executed).size).toBe(stage.executed.length);
    }
  });

  test("asks a model again that may yet answer, and voids what it had said", async () => {
    const failures = [
      new ModelFailure("unavailable", "busy"),
      new ModelFailure("rate_limited", "slow"),
    ];
    const stage = await new WorkerBench(countingModel(0, failures)).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(2);
    expect(foldHead(emptyHead, events).status).toBe(RunStatus.COMPLETED);
  });

  test("gives up a model that fails for good, with its reason", async () => {
    const stage = await new WorkerBench(
      countingModel(0, [new ModelFailure("invalid", "no such model")]),
    ).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.message).toContain("no such model");
  });

  // Requirement: RES-1
  test("ends a run whose model cannot be resolved, with the reason", async () => {
    const stage = await new WorkerBench(countingModel(0)).create({ model: "nobody:x" });
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("resolve_failed");
  });
});

describe("two workers", () => {
  // Requirement: DUR-4
  test("with the same message: the later claim wins, and the run ends once", async () => {
    const stage = await new WorkerBench(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1"), stage.drive("w2")]);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(settled.toSorted()).toEqual(["acknowledged", "forgotten"]);
    expect(new Set(stage.executed).size).toBe(stage.executed.length);
  });

  test("with different messages: the second leaves the first alone", async () => {
    const stage = await new WorkerBench(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1", 1), stage.drive("w2", 2)]);
    expect(settled).toEqual(["acknowledged", "acknowledged"]);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "runClaimed")).toHaveLength(1);
  });
});

// Requirement: CAN-1
test("a run that is cancelled while a tool works ends there, and its open calls are withdrawn", async () => {
  const stage = await new WorkerBench(countingModel(1)).create();
  const asked = Promise.withResolvers<string>();
  stage.onRequest = (callId) => {
    asked.resolve(callId);
    return "hold";
  };
  const driving = stage.drive("w1");
  const call = await asked.promise;
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await appendExternal({ log: stage.log, dispatch: stage.dispatch }, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
  expectWhole(await stage.events(), RunStatus.CANCELLED);
  const { events: facts } = await stage.journal.read({ ...key, call }, emptyTail, never);
  expect(facts.map(({ fact }) => fact.case)).toEqual(["cancelled"]);
});

test("a run that a newer version wrote is given back untouched", async () => {
  const stage = await new WorkerBench(countingModel(0)).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await stage.log.append(key, (await stage.log.read(key, emptyTail, never)).tail, [unknown], never);
  expect(await stage.drive("w")).toBe("given back");
  expect(await stage.events()).toHaveLength(2);
});
