import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
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

const message = { afterSequence: 0 };

const claimsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "runClaimed" ? [event.value] : []));

async function parked(): Promise<WorkerBench> {
  const bench = await new WorkerBench(model).create({ hitlTools: ["count"] });
  await bench.drive("w1");
  return bench;
}

describe("a claim", () => {
  test("is one batch with the preparation and the first model call", async () => {
    const bench = await new WorkerBench(model).create();
    await bench.drive("w1");
    const kinds = bench.log.batches.map(({ events }) => events.map(({ event }) => event.case));
    expect(kinds[1]).toEqual(["runClaimed", "status", "runPrepared", "step", "modelCallStarted"]);
  });

  test("names its delivery", async () => {
    const bench = await new WorkerBench(model).create();
    await bench.drive("w1", 7, stop, 3);
    expect(claimsIn(await bench.events())).toMatchObject([{ dispatchSequence: 7n, attempt: 3 }]);
  });

  test("is refused while another message has an owner", async () => {
    const bench = await new WorkerBench(model).create();
    const claim = await claimRun(
      key,
      { message, sequence: 1, attempt: 1 },
      bench.ports("w1"),
      never,
    );
    expect(claim.kind).toBe("claimed");
    expect(await bench.drive("w2", 2)).toBe("acknowledged");
    expect(claimsIn(await bench.events())).toHaveLength(1);
  });

  test("succeeds when the owner's message is gone from the queue", async () => {
    const bench = await new WorkerBench(model).create();
    await claimRun(key, { message, sequence: 1, attempt: 1 }, bench.ports("w1"), never);
    bench.lostDispatches.add(1);
    expect(await bench.drive("w2", 2)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("is refused when the same message was delivered again since", async () => {
    const bench = await new WorkerBench(model).create();
    await claimRun(key, { message, sequence: 1, attempt: 2 }, bench.ports("w2"), never);
    expect(await bench.drive("w1", 1, stop, 1)).toBe("forgotten");
    expect(claimsIn(await bench.events())).toHaveLength(1);
  });

  test("is refused for a message that the run has spent", async () => {
    const bench = await parked();
    const before = await bench.events();
    expect(await bench.drive("w2", 1, stop, 2)).toBe("acknowledged");
    expect(await bench.events()).toEqual(before);
    expect(bench.dispatch.length).toBe(0);
  });

  test("is refused for another message while nothing came after the park", async () => {
    const bench = await parked();
    const before = await bench.events();
    // Looked at once more, because its reason may not be readable yet.
    expect(await bench.drive("w2", 2, stop, 2)).toBe("acknowledged");
    expect(await bench.events()).toEqual(before);
  });

  test("is refused for a spent message, which still dispatches facts whose writer died", async () => {
    const bench = await parked();
    await bench.decide(ApprovalState.APPROVED);
    expect(bench.dispatch.length).toBe(1);
    const { events, tail } = await bench.log.read(key, emptyTail, never);
    const other = new WorkerBench(model);
    await other.log.append(key, emptyTail, events, never);
    expect(tail.sequence).toBe(events.length);
    expect(await other.drive("w2", 1, stop, 2)).toBe("acknowledged");
    expect(other.dispatch.length).toBe(1);
    await other.drive("w2", 2);
    expectWhole(await other.events(), RunStatus.COMPLETED);
  });
});

describe("a run whose workers die", () => {
  // Requirement: HOST-2
  test("ends with an error after ten claims without progress", async () => {
    const bench = await new WorkerBench(model).create();
    for (let attempt = 1; attempt <= 11; attempt++) {
      const claim = await claimRun(key, { message, sequence: 1, attempt }, bench.ports("w"), never);
      expect(claim.kind).toBe(attempt <= 10 ? "claimed" : "ended");
    }
    const events = await bench.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("worker_lost");
  });

  test("does not end while its workers only stand still or hand it over", async () => {
    const bench = await new WorkerBench(model).create();
    for (let attempt = 1; attempt <= 50; attempt++) {
      bench.ownerFate = attempt % 2 === 0 ? "alive" : "ended";
      const claim = await claimRun(key, { message, sequence: 1, attempt }, bench.ports("w"), never);
      expect(claim.kind).toBe("claimed");
    }
    await bench.drive("w", 1, stop, 51);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("ends with an error after a hundred claims without progress, whatever became of the owners", async () => {
    const budgets = { maxLlmCalls: 1_000 };
    const bench = await new WorkerBench(model).create({ budgets });
    bench.ownerFate = "alive";
    let attempt = 1;
    for (; attempt < 200; attempt++) {
      const claim = await claimRun(key, { message, sequence: 1, attempt }, bench.ports("w"), never);
      if (claim.kind === "ended") break;
    }
    expect(attempt).toBe(101);
    expect(foldHead(emptyHead, await bench.events()).error?.reason).toBe("worker_lost");
  });

  test("ends with an error also when each worker dies before it has prepared the run", async () => {
    const bench = await new WorkerBench(model).create();
    const dying = (worker: string): RunPorts => ({
      ...bench.ports(worker),
      catalogs: () => {
        throw new Error("the worker dies");
      },
    });
    let deaths = 0;
    for (; deaths < 50; deaths++) {
      const ticket = { message, sequence: 1, attempt: deaths + 1 };
      const claim = await claimRun(key, ticket, dying(`w${deaths}`), never).catch(() => undefined);
      if (claim?.kind === "ended") break;
    }
    expect(deaths).toBe(15);
    const events = await bench.events();
    expectWhole(events, RunStatus.ERROR);
    expect(foldHead(emptyHead, events).error?.reason).toBe("worker_lost");
  });

  test("is prepared like any other after several deliveries", async () => {
    const bench = await new WorkerBench(model).create();
    await bench.drive("w", 1, stop, 9);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(claimsIn(events)).toHaveLength(1);
  });
});

// Requirement: HOST-2
test("a run with an event of a newer version is given back without a claim, each time for longer", async () => {
  const bench = await new WorkerBench(model).create();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 2 });
  await bench.log.append(key, (await bench.log.read(key, emptyTail, never)).tail, [unknown], never);
  for (let attempt = 1; attempt <= 8; attempt++) {
    expect(await bench.drive("w", 1, stop, attempt)).toBe("given back");
  }
  expect(await bench.events()).toHaveLength(2);
  expect(bench.redeliveryDelaysMs).toEqual(
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  );
});

test("a run whose log cannot be read is given back for five seconds at most, however many owners it had", async () => {
  const bench = await new WorkerBench(model).create();
  bench.log.read = async () => {
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store does not answer");
  };
  for (const attempt of [1, 3, 9]) {
    expect(await bench.drive("w", 1, stop, attempt)).toBe("given back");
  }
  expect(bench.redeliveryDelaysMs).toEqual([1_000, 4_000, 5_000]);
});
