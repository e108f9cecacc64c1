import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { claimRun } from "./claim-run.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const stop = { now: never, drain: never };

/** A model that calls `count` once, then answers. */
const model: ModelProvider = {
  descriptor: create(ProviderDescriptorSchema, { name: "test" }),
  format: "test",
  async *stream({ messages }) {
    await new Promise(setImmediate);
    const isFirst = !messages.some(({ role }) => role === "verbatim");
    const calls = isFirst ? [{ providerCallId: "p", name: "count", argumentsText: "{}" }] : [];
    const finishReason = isFirst ? "tool_calls" : "stop";
    const more = { usage: undefined, model: "test" };
    yield { kind: "turn", turn: { messageJson: "{}", finishReason, calls, ...more } };
  },
};

const claimsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "runClaimed" ? [event.value] : []));

async function parked(): Promise<WorkerBench> {
  const stage = await new WorkerBench(model).create({ hitlTools: ["count"] });
  await stage.drive("w1");
  return stage;
}

describe("a delivery is a ticket to a run", () => {
  test("and its claim names it", async () => {
    const stage = await new WorkerBench(model).create();
    await stage.drive("w1", 7, stop, 3);
    expect(claimsIn(await stage.events())).toMatchObject([{ dispatchSequence: 7n, attempt: 3 }]);
  });

  test("unless another message has its owner, who lives", async () => {
    const stage = await new WorkerBench(model).create();
    const claim = await claimRun(key, { sequence: 1, attempt: 1 }, stage.ports("w1"), never);
    expect(claim.kind).toBe("claimed");
    expect(await stage.drive("w2", 2)).toBe("acknowledged");
    expect(claimsIn(await stage.events())).toHaveLength(1);
  });

  test("also when the message is gone by which its owner had it", async () => {
    const stage = await new WorkerBench(model).create();
    await claimRun(key, { sequence: 1, attempt: 1 }, stage.ports("w1"), never);
    stage.lostDispatches.add(1);
    expect(await stage.drive("w2", 2)).toBe("acknowledged");
    expectWhole(await stage.events(), RunStatus.COMPLETED);
  });

  test("unless the message was delivered again since: whoever was slow does not take the run back", async () => {
    const stage = await new WorkerBench(model).create();
    await claimRun(key, { sequence: 1, attempt: 2 }, stage.ports("w2"), never);
    expect(await stage.drive("w1", 1, stop, 1)).toBe("forgotten");
    expect(claimsIn(await stage.events())).toHaveLength(1);
  });

  test("unless it was spent: delivered again after the run was parked, it claims nothing", async () => {
    const stage = await parked();
    const before = await stage.events();
    expect(await stage.drive("w2", 1, stop, 2)).toBe("acknowledged");
    expect(await stage.events()).toEqual(before);
    expect(stage.dispatch.length).toBe(0);
  });

  test("which, when it was spent, still says what somebody wrote and died", async () => {
    const stage = await parked();
    await stage.decide(ApprovalState.APPROVED);
    expect(stage.dispatch.length).toBe(1);
    const { events, tail } = await stage.log.read(key, emptyTail, never);
    const other = new WorkerBench(model);
    await other.log.append(key, emptyTail, events, never);
    expect(tail.sequence).toBe(events.length);
    expect(await other.drive("w2", 1, stop, 2)).toBe("acknowledged");
    expect(other.dispatch.length).toBe(1);
    await other.drive("w2", 2);
    expectWhole(await other.events(), RunStatus.COMPLETED);
  });
});

describe("a run that kills its workers", () => {
  // Requirement: HOST-2
  test("ends visibly after ten claims of which nothing came", async () => {
    const stage = await new WorkerBench(model).create();
    for (let attempt = 1; attempt <= 11; attempt++) {
      const claim = await claimRun(key, { sequence: 1, attempt }, stage.ports("w"), never);
      expect(claim.kind).toBe(attempt <= 10 ? "claimed" : "ended");
    }
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("worker_lost");
  });

  test("ends visibly also when each dies before it has prepared the run", async () => {
    const stage = await new WorkerBench(model).create();
    const dying = (worker: string): RunPorts => ({
      ...stage.ports(worker),
      catalogs: () => {
        throw new Error("the worker dies");
      },
    });
    let deaths = 0;
    for (; deaths < 50; deaths++) {
      const ticket = { sequence: 1, attempt: deaths + 1 };
      const claim = await claimRun(key, ticket, dying(`w${deaths}`), never).catch(() => undefined);
      if (claim?.kind === "ended") break;
    }
    expect(deaths).toBe(15);
    const events = await stage.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("worker_lost");
  });

  test("is prepared as any other when it is delivered often and then does no harm", async () => {
    const stage = await new WorkerBench(model).create();
    await stage.drive("w", 1, stop, 9);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(claimsIn(events)).toHaveLength(1);
  });
});

// Requirement: HOST-2
test("a run that a newer version wrote is given back without a claim, for longer each time", async () => {
  const stage = await new WorkerBench(model).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await stage.log.append(key, (await stage.log.read(key, emptyTail, never)).tail, [unknown], never);
  for (let attempt = 1; attempt <= 8; attempt++) {
    expect(await stage.drive("w", 1, stop, attempt)).toBe("given back");
  }
  expect(await stage.events()).toHaveLength(2);
  expect(stage.redeliveryDelaysMs).toEqual(
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  );
});
