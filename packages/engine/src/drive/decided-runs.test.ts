import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { appendExternal } from "@reeve/run/commands/append-external";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

async function waiting(): Promise<WorkerBench> {
  const bench = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
  expect(await bench.drive("w1")).toBe("acknowledged");
  return bench;
}

describe("a run that waits for a person", () => {
  test("is parked, and its decision causes exactly one dispatch", async () => {
    const bench = await waiting();
    expect((await bench.events()).at(-1)?.event.case).toBe("runParked");
    await bench.decide(ApprovalState.APPROVED);
    expect(bench.dispatch.length).toBe(1);
    await bench.drive("w2", 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });

  test("executes nothing after a rejection, and continues", async () => {
    const bench = await waiting();
    await bench.decide(ApprovalState.REJECTED);
    await bench.drive("w2", 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toEqual([]);
  });
});

describe("a decision", () => {
  test("continues the run when it arrives just before the park", async () => {
    const bench = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
    const append = bench.log.append.bind(bench.log);
    bench.log.append = async (to, tail, events, signal) => {
      if (events.some(({ event }) => event.case === "runParked")) {
        bench.log.append = append;
        await bench.decide(ApprovalState.APPROVED);
      }
      return append(to, tail, events, signal);
    };
    expect(await bench.drive("w1")).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });

  test("starts its call at once while another call is in progress", async () => {
    const model = countingModel(0);
    const calls = ["count", "other"].map((name) => ({
      providerCallId: name,
      name,
      argumentsText: "{}",
    }));
    const bench = await new WorkerBench({
      ...model,
      async *stream() {
        const turn = { messageJson: "{}", finishReason: "tool_calls", calls, model: "test" };
        yield { kind: "turn", turn: { ...turn, usage: undefined } };
      },
    }).create({ hitlTools: ["count"] });
    const requested: PromiseWithResolvers<void>[] = [
      Promise.withResolvers(),
      Promise.withResolvers(),
    ];
    let count = 0;
    bench.onRequest = () => {
      requested[count++]?.resolve();
      return "hold";
    };
    const stop = new AbortController();
    const driving = bench.drive("w1", 1, { now: stop.signal, drain: never });
    await requested[0]?.promise;
    await bench.decide(ApprovalState.APPROVED);
    await requested[1]?.promise;
    stop.abort();
    expect(await driving).toBe("given back");
  });
});

test("an approved call runs at once, however long its sibling takes", async () => {
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
  const bench = await new WorkerBench(model).create({ hitlTools: ["count"] });
  const requested = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let count = 0;
  bench.onRequest = (callId) => {
    requested[count++]?.resolve(callId);
    return "hold";
  };
  await bench.drive("w1");
  const approvals = approvalsOf(foldHead(emptyHead, await bench.events())).map(
    ({ approvalId }) => approvalId,
  );
  await bench.decide(ApprovalState.APPROVED, approvals[0]);
  const driving = bench.drive("w2", 2);
  expect(await requested[0]?.promise).toBe(approvals[0]);
  await bench.decide(ApprovalState.APPROVED, approvals[1]);
  expect(await requested[1]?.promise).toBe(approvals[1]);
  const cancelled = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
  await appendExternal(bench, key, () => [cancelled], never);
  expect(await driving).toBe("acknowledged");
});
