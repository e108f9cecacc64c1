import { create } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { describe, expect, test } from "vitest";
import {
  answers,
  deliveryOf,
  factsIn,
  journalAway,
  kinds,
  never,
  patientTool,
  portsWith,
  request,
  resultIn,
  toolOf,
} from "../../test/support/call-bench.ts";
import { settleCall, workCalls } from "./work-calls.ts";

describe("a toolhost that ends", () => {
  test("ends its calls and returns them to the queue", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const stop = new AbortController();
    const delivery = deliveryOf(request());
    const executing = settleCall(delivery, ports, stop.signal);
    await begun;
    stop.abort(new DOMException("going", "AbortError"));
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started"]);
    expect(delivery.settled).toEqual(["returned"]);
  });

  test("finishes what runs before it stops working", async () => {
    const finish = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const ports = portsWith(
      toolOf(async () => {
        begun.resolve();
        await finish.promise;
        return { content: "finished", isError: false };
      }),
    );
    const queue = new MemoryWorkQueue<ToolCallRequest>();
    const taking = new AbortController();
    await queue.publish(request(), { dedupeId: "1" }, never);
    const working = workCalls(queue, ports, 4, { taking: taking.signal, running: never });
    await begun.promise;
    taking.abort(new DOMException("going", "AbortError"));
    finish.resolve();
    await working;
    expect(resultIn(await factsIn(ports)).content).toBe("finished");
  });
});

test.each([
  ["is empty", {}],
  ["names no tenant", { runId: "run_1", call: { callId: "run_1-2-0" } }],
  ["has no id", { tenant: "acme", runId: "run_1", call: {} }],
  ["has an id that no subject can have", { tenant: "acme", runId: "a b", call: { callId: "c" } }],
])("a call that %s is removed from the queue", async (_, fields) => {
  const ports = portsWith(
    answers,
    journalAway(() => true),
  );
  const delivery = deliveryOf(create(ToolCallRequestSchema, fields));
  await settleCall(delivery, ports, never);
  expect(delivery.settled).toEqual(["acknowledged"]);
});
