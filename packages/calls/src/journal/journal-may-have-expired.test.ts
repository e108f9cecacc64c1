import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import {
  answers,
  append,
  deliveryOf,
  factsIn,
  kinds,
  never,
  portsWith,
  request,
  resultIn,
} from "../../test/support/call-bench.ts";
import { settleCall } from "../queue/work-calls.ts";
import { progressFact } from "./journal-facts.ts";
import { journalMayHaveExpired } from "./journal-may-have-expired.ts";

const hour = 3_600_000;
const week = 7 * 24 * hour;

test("a journal may have expired when its call is as old as a journal can be, but for an hour", () => {
  const requestedAt = timestampFromMs(1_000);
  expect(journalMayHaveExpired({ requestedAt }, 1_000 + week - hour - 1)).toBe(false);
  expect(journalMayHaveExpired({ requestedAt }, 1_000 + week - hour)).toBe(true);
});

test("the journal of a call of unknown age has not expired", () => {
  expect(journalMayHaveExpired({}, week * 100)).toBe(false);
});

describe("a call without a journal, requested a week ago", () => {
  const wallClock = new ManualClock(week);
  const requestedAt = timestampFromMs(0);

  // Requirement: DUR-3
  test("is not executed again, because its outcome is unknown", async () => {
    const ports = { ...portsWith(answers), wallClock };
    const delivery = deliveryOf({ ...request(), requestedAt });
    await settleCall(delivery, ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["result"]);
    expect(resultIn(facts)).toMatchObject({ isError: true, metadata: { startedAt: requestedAt } });
    expect(resultIn(facts).content).toContain("unknown");
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("is executed when it is idempotent", async () => {
    const ports = { ...portsWith(answers), wallClock };
    await settleCall(deliveryOf({ ...request({ idempotent: true }), requestedAt }), ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
  });

  test("whose journal has lost its start is not executed again", async () => {
    const ports = { ...portsWith(answers), wallClock };
    const { call } = request();
    if (call === undefined) throw new Error("the request has no call");
    await append(ports, progressFact(call, { progress: 1, message: "half" }));
    await settleCall(deliveryOf({ ...request(), requestedAt }), ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["progress", "result"]);
  });
});

test("a call without a journal is executed while no journal of it can have expired", async () => {
  const ports = { ...portsWith(answers), wallClock: new ManualClock(week - 2 * hour) };
  await settleCall(deliveryOf({ ...request(), requestedAt: timestampFromMs(0) }), ports, never);
  expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
});
