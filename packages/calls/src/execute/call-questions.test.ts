import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { AnswerAction, ToolCallFactSchema } from "@reeve/contracts/tool";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { describe, expect, test } from "vitest";
import type { CallPorts } from "../ports/call-ports.ts";
import {
  append,
  cancelled,
  deliveryOf,
  factsIn,
  key,
  kinds,
  never,
  portsWith,
  request,
  toolOf,
} from "../../test/support/call-bench.ts";
import { settleCall } from "../queue/work-calls.ts";

function answered(questionId: string, content: JsonObject): ToolCallFact {
  const value = { questionId, action: AnswerAction.ACCEPT, content };
  return create(ToolCallFactSchema, { fact: { case: "answer", value } });
}

/** Returns the id of the first question of the call. */
async function questionIn({ journal }: CallPorts): Promise<string> {
  for await (const { events } of journal.follow(key, 0, never)) {
    for (const { fact } of events) if (fact.case === "question") return fact.value.questionId;
  }
  throw new Error("the call asked no question");
}

describe("a call", () => {
  test("that asks a person continues with the answer, and is still owned by its host", async () => {
    const asks = toolOf(async ({ ask, report }) => {
      report({ progress: 1, message: "before" });
      const given = await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
      report({ progress: 2, message: "after" });
      return {
        content: given.kind === "accepted" ? JSON.stringify(given.content) : given.kind,
        isError: false,
      };
    });
    const ports = portsWith(asks);
    const executing = settleCall(deliveryOf(request()), ports, never);
    const questionId = await questionIn(ports);
    await append(ports, answered(questionId, { dish: "soup" }));
    await executing;
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual([
      "started",
      "progress",
      "question",
      "answer",
      "progress",
      "result",
    ]);
    expect(facts.at(-1)?.fact.value).toMatchObject({ content: '{"dish":"soup"}' });
  });

  test("that is cancelled while a question is pending ends", async () => {
    const asks = toolOf(async ({ ask }) => {
      await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
      return { content: "never", isError: false };
    });
    const ports = portsWith(asks);
    const executing = settleCall(deliveryOf(request()), ports, never);
    await questionIn(ports);
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "question", "cancelled"]);
  });

  test("that asks more than ten questions gets an error", async () => {
    const asks = toolOf(async ({ ask }) => {
      for (;;) await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
    });
    const ports = portsWith(asks);
    const executing = settleCall(deliveryOf(request()), ports, never);
    for await (const { events } of ports.journal.follow(key, 0, never)) {
      for (const { fact } of events) {
        if (fact.case === "question") await append(ports, answered(fact.value.questionId, {}));
      }
      if (events.some(({ fact }) => fact.case === "result")) break;
    }
    await executing;
    const facts = await factsIn(ports);
    expect(kinds(facts).filter((kind) => kind === "question")).toHaveLength(10);
    expect(facts.at(-1)?.fact.value).toMatchObject({
      isError: true,
      content: expect.stringContaining("asked more than 10 questions"),
    });
  });
});

test("a question is answered as if nobody had when too many calls of the host wait for a person", async () => {
  const asks = toolOf(async ({ ask }) => {
    const given = await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
    return { content: given.kind, isError: false };
  });
  const asking = new Semaphore(1);
  const place = asking.tryAcquire();
  const crowded = { ...portsWith(asks), asking };
  await settleCall(deliveryOf(request()), crowded, never);
  const facts = await factsIn(crowded);
  expect(kinds(facts)).toEqual(["started", "result"]);
  expect(facts.at(-1)?.fact.value).toMatchObject({ content: "cancelled" });
  place?.[Symbol.dispose]();
  const free = { ...portsWith(asks), asking };
  const executing = settleCall(deliveryOf(request()), free, never);
  const questionId = await questionIn(free);
  expect(asking.available).toBe(0);
  await append(free, answered(questionId, {}));
  await executing;
  expect(asking.available).toBe(1);
});
