import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { commitForeign } from "@reeve/log/commit-foreign";
import { emptyTail } from "@reeve/log/log";
import { emptyHead, foldHead, outputOf } from "@reeve/log/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";
import { expectWhole, key, Stage } from "./testing.ts";

const never = new AbortController().signal;

/** A model that calls `count` as often as `rounds` says, then answers. */
function countingModel(rounds: number, failures: ModelFailure[] = []): ModelProvider {
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ messages }) {
      const failure = failures.shift();
      const taken = messages.filter(({ role }) => role === "verbatim").length;
      yield { kind: "text", text: `turn ${taken} ` };
      await new Promise(setImmediate);
      yield { kind: "text", text: "goes on" };
      if (failure !== undefined) throw failure;
      const calls =
        taken < rounds ? [{ providerCallId: `p${taken}`, name: "count", argumentsText: "{}" }] : [];
      const finishReason = calls.length > 0 ? "tool_calls" : "stop";
      const turn = { messageJson: "{}", finishReason, calls, usage: undefined, model: "test" };
      yield { kind: "turn", turn };
    },
  };
}

const textOf = (events: readonly RunEvent[]) =>
  events.map(({ event }) => (event.case === "text" ? event.value.text : "")).join("");

describe("driving a run", () => {
  test("takes it to its end in a few appends", async () => {
    const stage = await new Stage(countingModel(1)).create();
    expect(await stage.drive("w")).toBe("acknowledged");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 goes onturn 1 goes on");
    expect(stage.executed).toHaveLength(1);
  });

  test("goes on wherever the worker before it died, and makes no finished call again", async () => {
    const whole = await new Stage(countingModel(2)).create();
    await whole.drive("w1");
    const history = await whole.events();
    for (let survived = 1; survived <= history.length; survived++) {
      const stage = new Stage(countingModel(2));
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
    const stage = await new Stage(countingModel(0, failures)).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(2);
    expect(foldHead(emptyHead, events).status).toBe(RunStatus.COMPLETED);
  });

  test("gives up a model that fails for good, with its reason", async () => {
    const stage = await new Stage(
      countingModel(0, [new ModelFailure("invalid", "no such model")]),
    ).create();
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.message).toContain("no such model");
  });

  test("ends a run whose model cannot be resolved, with the reason", async () => {
    const stage = await new Stage(countingModel(0)).create({ model: "nobody:x" });
    await stage.drive("w");
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("resolve_failed");
  });
});

async function waiting(): Promise<Stage> {
  const stage = await new Stage(countingModel(1)).create({ hitlTools: ["count"] });
  expect(await stage.drive("w1")).toBe("acknowledged");
  return stage;
}

describe("a run that waits for a person", () => {
  test("is let go of, and wakes exactly one dispatch when it is decided", async () => {
    const stage = await waiting();
    expect((await stage.events()).at(-1)?.event.case).toBe("runParked");
    await stage.decide(ApprovalState.APPROVED);
    expect(stage.dispatch.length).toBe(1);
    await stage.drive("w2", 2);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(stage.executed).toHaveLength(1);
  });

  test("runs nothing when it is rejected, and goes on", async () => {
    const stage = await waiting();
    await stage.decide(ApprovalState.REJECTED);
    await stage.drive("w2", 2);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(stage.executed).toEqual([]);
  });
});

describe("a decision that its owner sees", () => {
  test("in the moment in which it lets go moves the run on at once", async () => {
    const stage = await new Stage(countingModel(1)).create({ hitlTools: ["count"] });
    const append = stage.log.append.bind(stage.log);
    stage.log.append = async (to, tail, events, signal) => {
      if (events.some(({ event }) => event.case === "runParked")) {
        stage.log.append = append;
        await stage.decide(ApprovalState.APPROVED);
      }
      return append(to, tail, events, signal);
    };
    expect(await stage.drive("w1")).toBe("acknowledged");
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(stage.executed).toHaveLength(1);
  });

  test("while another call works begins its call at once", async () => {
    const model = countingModel(0);
    const calls = ["count", "other"].map((name) => ({
      providerCallId: name,
      name,
      argumentsText: "{}",
    }));
    const stage = await new Stage({
      ...model,
      async *stream() {
        const turn = { messageJson: "{}", finishReason: "tool_calls", calls, model: "test" };
        yield { kind: "turn", turn: { ...turn, usage: undefined } };
      },
    }).create({ hitlTools: ["count"] });
    const asked: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
    let count = 0;
    stage.onAsked = () => {
      asked[count++]?.resolve();
      return "hold";
    };
    const stop = new AbortController();
    const driving = stage.drive("w1", 1, { now: stop.signal, soon: never });
    await asked[0]?.promise;
    await stage.decide(ApprovalState.APPROVED);
    await asked[1]?.promise;
    stop.abort();
    expect(await driving).toBe("given back");
  });
});

describe("two workers", () => {
  test("with the same message: the later claim wins, and the run ends once", async () => {
    const stage = await new Stage(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1"), stage.drive("w2")]);
    expectWhole(await stage.events(), RunStatus.COMPLETED);
    expect(settled.toSorted()).toEqual(["acknowledged", "forgotten"]);
    expect(new Set(stage.executed).size).toBe(stage.executed.length);
  });

  test("with different messages: the second leaves the first alone", async () => {
    const stage = await new Stage(countingModel(3)).create();
    const settled = await Promise.all([stage.drive("w1", 1), stage.drive("w2", 2)]);
    expect(settled).toEqual(["acknowledged", "acknowledged"]);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "runClaimed")).toHaveLength(1);
  });
});

test("a run that is cancelled while a tool works ends there, and its open calls are withdrawn", async () => {
  const stage = await new Stage(countingModel(1)).create();
  const asked = Promise.withResolvers<string>();
  stage.onAsked = (callId) => {
    asked.resolve(callId);
    return "hold";
  };
  const driving = stage.drive("w1");
  const call = await asked.promise;
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await commitForeign({ log: stage.log, dispatch: stage.dispatch }, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
  expectWhole(await stage.events(), RunStatus.CANCELLED);
  const { events: facts } = await stage.journal.read({ ...key, call }, emptyTail, never);
  expect(facts.map(({ fact }) => fact.case)).toEqual(["cancelled"]);
});

test("a call that a person approves runs at once, however long its sibling takes", async () => {
  const calls = ["a", "b"].map((id) => ({
    providerCallId: id,
    name: "count",
    argumentsText: "{}",
  }));
  const turn = { messageJson: "{}", finishReason: "tool_calls", usage: undefined, model: "x" };
  const model: ModelProvider = {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream() {
      yield { kind: "turn", turn: { ...turn, calls } };
    },
  };
  const stage = await new Stage(model).create({ hitlTools: ["count"] });
  const asked = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let count = 0;
  stage.onAsked = (callId) => {
    asked[count++]?.resolve(callId);
    return "hold";
  };
  await stage.drive("w1");
  const approvals = [...foldHead(emptyHead, await stage.events()).approvals.keys()];
  await stage.decide(ApprovalState.APPROVED, approvals[0]);
  const driving = stage.drive("w2", 2);
  expect(await asked[0]?.promise).toBe(approvals[0]);
  await stage.decide(ApprovalState.APPROVED, approvals[1]);
  expect(await asked[1]?.promise).toBe(approvals[1]);
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await commitForeign(stage, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
});

test("a run that a newer version wrote is given back untouched", async () => {
  const stage = await new Stage(countingModel(0)).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await stage.log.append(key, (await stage.log.read(key, emptyTail, never)).tail, [unknown], never);
  expect(await stage.drive("w")).toBe("given back");
  expect(await stage.events()).toHaveLength(2);
});

/** Speaks, and has the worker told to end soon in the middle of its first turn. */
function interrupting(ending: AbortController): ModelProvider {
  const inner = countingModel(1);
  return {
    descriptor: inner.descriptor,
    format: inner.format,
    async *stream(request, signal) {
      for await (const part of inner.stream(request, signal)) {
        yield part;
        ending.abort();
      }
    },
  };
}

describe("a worker that is to end soon", () => {
  test("listens to its model, gives the run back, and loses nothing", async () => {
    const ending = new AbortController();
    const stage = await new Stage(interrupting(ending)).create();
    const stop = { now: never, soon: ending.signal };
    expect(await stage.drive("w1", 1, stop)).toBe("given back");
    expect(stage.executed).toEqual([]);
    expect(await stage.drive("w2")).toBe("acknowledged");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 goes onturn 1 goes on");
    const asked = events.filter(({ event }) => event.case === "modelCallStarted");
    expect(asked).toHaveLength(2);
    expect(stage.executed).toHaveLength(1);
  });

  test("that may not wait any longer gives the run back at once, and its text is voided", async () => {
    const ending = new AbortController();
    const stage = await new Stage(neverFinishing()).create();
    const driving = stage.drive("w1", 1, { now: ending.signal, soon: ending.signal });
    for await (const { events } of stage.log.follow(key, 0, never)) {
      if (events.some(({ event }) => event.case === "text")) break;
    }
    ending.abort();
    expect(await driving).toBe("given back");
    const said = (await stage.events()).find(({ event }) => event.case === "text");
    await stage.drive("w2", 1, undefined, 2);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    const voided = events.find(({ event }) => event.case === "textVoided");
    expect(voided?.event.value).toMatchObject({ firstSequence: said?.sequence });
    expect(outputOf(foldHead(emptyHead, events))).toBe("turn 0 goes on");
  });
});

/** Speaks, and then is silent until it is ended; asked again, it answers. */
function neverFinishing(): ModelProvider {
  const inner = countingModel(0);
  let isFirst = true;
  return {
    descriptor: inner.descriptor,
    format: inner.format,
    async *stream(request, signal) {
      if (!isFirst) return yield* inner.stream(request, signal);
      isFirst = false;
      yield { kind: "text", text: "half an ans" };
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    },
  };
}
