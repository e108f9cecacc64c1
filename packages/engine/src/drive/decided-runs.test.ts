import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

async function waiting(): Promise<WorkerBench> {
  const stage = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
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
    const stage = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
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
    const stage = await new WorkerBench({
      ...model,
      async *stream() {
        const turn = { messageJson: "{}", finishReason: "tool_calls", calls, model: "test" };
        yield { kind: "turn", turn: { ...turn, usage: undefined } };
      },
    }).create({ hitlTools: ["count"] });
    const asked: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
    let count = 0;
    stage.onRequest = () => {
      asked[count++]?.resolve();
      return "hold";
    };
    const stop = new AbortController();
    const driving = stage.drive("w1", 1, { now: stop.signal, drain: never });
    await asked[0]?.promise;
    await stage.decide(ApprovalState.APPROVED);
    await asked[1]?.promise;
    stop.abort();
    expect(await driving).toBe("given back");
  });
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
  const stage = await new WorkerBench(model).create({ hitlTools: ["count"] });
  const asked = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let count = 0;
  stage.onRequest = (callId) => {
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
  await appendExternal(stage, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
});
