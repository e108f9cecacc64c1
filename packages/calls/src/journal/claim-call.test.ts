import { memoryCallJournal } from "@reeve/jetstream/log/memory";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import { startedFact } from "./journal-facts.ts";
import {
  answers,
  append,
  deliveryOf,
  factsIn,
  kinds,
  never,
  patientTool,
  portsWith,
  request,
  resultIn,
  unavailable,
  whoseStateIs,
} from "../../test/support/call-bench.ts";
import { settleCall } from "../queue/work-calls.ts";

describe("a call that is delivered again", () => {
  test("has its result already", async () => {
    const ports = portsWith(answers);
    await settleCall(deliveryOf(request()), ports, never);
    const delivery = deliveryOf(request());
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  // Requirement: DUR-3
  test("after its host fell silent has an unknown outcome", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-gone", 7));
    await settleCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "result"]);
    expect(resultIn(facts)).toMatchObject({ isError: true });
    expect(resultIn(facts).content).toContain("unknown");
  });

  // Requirement: DUR-3
  test("after its host fell silent is executed again when it is idempotent", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-gone", 7));
    await settleCall(deliveryOf(request({ idempotent: true })), ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "started", "result"]);
    expect(resultIn(facts)).toMatchObject({ isError: false });
  });

  test("that took down every host is not executed forever", async () => {
    const ports = portsWith(answers);
    const starts = ["a", "b", "c"].map((host) => startedFact(host, 7));
    await append(ports, ...starts);
    await settleCall(deliveryOf(request({ idempotent: true })), ports, never);
    expect(resultIn(await factsIn(ports))).toMatchObject({ isError: true });
  });

  test("of a run that is over is not executed", async () => {
    const ports = { ...portsWith(answers), isRunOver: async () => true };
    const delivery = deliveryOf(request({ idempotent: true }));
    await settleCall(delivery, ports, never);
    expect(await factsIn(ports)).toEqual([]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("by another message has no effect", async () => {
    const ports = portsWith(answers);
    await append(ports, startedFact("toolhost-alive", 7));
    const delivery = deliveryOf(request({ idempotent: true }), 8);
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("by another message takes it over when the queue lost the message that started it", async () => {
    const ports = { ...portsWith(answers), requests: { holds: async () => false } };
    await append(ports, startedFact("toolhost-gone", 7));
    await settleCall(deliveryOf(request({ idempotent: true }), 8), ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "started", "result"]);
  });

  test.each([
    ["left to its host, which executes it", "running", "forgotten"],
    ["returned when its host cannot be asked now", "unknown", "returned"],
  ] as const)("is %s", async (_, state, settled) => {
    const ports = { ...portsWith(answers), executions: whoseStateIs(state) };
    await append(ports, startedFact("toolhost-alive", 7));
    const delivery = deliveryOf(request({ idempotent: true }));
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual([settled]);
  });

  test("by another message is left to its host when the queue seems to have lost the message that started it", async () => {
    const requests = { holds: async () => false };
    const ports = { ...portsWith(answers), requests, executions: whoseStateIs("running") };
    await append(ports, startedFact("toolhost-alive", 7));
    const delivery = deliveryOf(request(), 8);
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("to another host is left to that host", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const delivery = deliveryOf(request());
    const executing = settleCall(delivery, ports, never);
    await begun;
    await append(ports, startedFact("toolhost-b", 7));
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "started"]);
    expect(delivery.settled).toEqual(["forgotten"]);
  });
});

// Requirement: DUR-3
test("a call whose start was stored without an acknowledgement is executed once, by the same host", async () => {
  const journal = memoryCallJournal();
  let isFirst = true;
  const ports = portsWith(answers, {
    read: (...given) => journal.read(...given),
    follow: (...given) => journal.follow(...given),
    append: async (...given) => {
      const outcome = await journal.append(...given);
      if (!isFirst) return outcome;
      isFirst = false;
      throw unavailable();
    },
  });
  const delivery = deliveryOf(request());
  await settleCall(delivery, { ...ports, clock: new HastyClock() }, never);
  const facts = await factsIn(ports);
  expect(kinds(facts)).toEqual(["started", "result"]);
  expect(resultIn(facts)).toMatchObject({ isError: false });
  expect(delivery.settled).toEqual(["acknowledged"]);
});

test("a call whose journal can be read and takes nothing is delivered again, after a bounded number of appends", async () => {
  const journal = memoryCallJournal();
  let appends = 0;
  const ports = portsWith(answers, {
    read: (...given) => journal.read(...given),
    follow: (...given) => journal.follow(...given),
    append: async () => {
      appends++;
      throw unavailable();
    },
  });
  const delivery = deliveryOf(request());
  const settling = settleCall(delivery, { ...ports, clock: new HastyClock() }, never);
  await settling.catch(() => undefined);
  expect(appends).toBe(20);
  expect(delivery.settled).toEqual(["returned"]);
});
