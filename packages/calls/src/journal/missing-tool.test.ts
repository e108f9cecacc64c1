import { describe, expect, test } from "vitest";
import {
  answers,
  append,
  cancelled,
  deliveryOf,
  factsIn,
  kinds,
  never,
  noTools,
  portsWith,
  request,
  resultIn,
} from "../../test/support/call-bench.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import { settleCall } from "../queue/work-calls.ts";
import { maxWaits } from "./claim-call.ts";
import { startedFact } from "./journal-facts.ts";

const offline = { ...answers, isReachable: () => false };

/** Toolhosts that cannot execute the only call: one lacks its tool, the other cannot reach what executes it. */
const hosts: readonly [string, () => CallPorts][] = [
  ["lacks its tool", () => ({ ...portsWith(answers), toolbox: noTools })],
  ["cannot reach its source", () => portsWith(offline)],
];

describe.each(hosts)("a call on a host that %s", (_, portsOf) => {
  test.each([
    ["has not started", false],
    ["is idempotent, and whose host died,", true],
  ])(
    "and that %s waits in its queue, where another host can take it",
    async (_case, hasStarted) => {
      const ports = portsOf();
      if (hasStarted) await append(ports, startedFact("toolhost-gone", 7));
      const before = kinds(await factsIn(ports));
      const delivery = deliveryOf(request({ idempotent: true }));
      await settleCall(delivery, ports, never);
      expect(delivery.settled).toEqual(["returned"]);
      expect(kinds(await factsIn(ports))).toEqual(before);
    },
  );

  test("is executed by the host that takes it next and has the tool", async () => {
    const ports = portsOf();
    await settleCall(deliveryOf(request()), ports, never);
    await settleCall(deliveryOf(request()), portsWith(answers, ports.journal), never);
    expect(resultIn(await factsIn(ports))).toMatchObject({ isError: false });
  });

  test("does not wait when it was cancelled", async () => {
    const ports = portsOf();
    await append(ports, cancelled());
    const delivery = deliveryOf(request());
    await settleCall(delivery, ports, never);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("has an unknown outcome without a wait when its host died and it is not idempotent", async () => {
    const ports = portsOf();
    await append(ports, startedFact("toolhost-gone", 7));
    await settleCall(deliveryOf(request()), ports, never);
    expect(resultIn(await factsIn(ports)).content).toContain("unknown");
  });

  test("that had started has an unknown outcome after the longest wait", async () => {
    const ports = portsOf();
    await append(ports, startedFact("toolhost-gone", 7));
    await settleCall(deliveryOf(request({ idempotent: true }), 7, maxWaits + 1), ports, never);
    expect(resultIn(await factsIn(ports)).content).toContain("unknown");
  });
});

test("a call whose tool no host has for the longest wait fails", async () => {
  const ports = { ...portsWith(answers), toolbox: noTools };
  await settleCall(deliveryOf(request(), 7, maxWaits + 1), ports, never);
  expect(resultIn(await factsIn(ports))).toMatchObject({
    isError: true,
    content: "there is no tool echo here",
  });
});
