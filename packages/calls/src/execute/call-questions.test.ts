import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { AnswerAction, ToolCallFactSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { executeCall } from "./execute-call.ts";
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

function answered(questionId: string, content: JsonObject): ToolCallFact {
  const value = { questionId, action: AnswerAction.ACCEPT, content };
  return create(ToolCallFactSchema, { fact: { case: "answer", value } });
}

/** The id of the question that a call asks. */
async function questionIn({ journal }: ToolhostPorts): Promise<string> {
  for await (const { events } of journal.follow(key, 0, never)) {
    for (const { fact } of events) if (fact.case === "question") return fact.value.questionId;
  }
  throw new Error("nothing is asked");
}

describe("a call", () => {
  test("that asks a person goes on with the answer, and is still its own", async () => {
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
    const executing = executeCall(deliveryOf(request()), ports, never);
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

  test("that is cancelled while it asks is ended", async () => {
    const asks = toolOf(async ({ ask }) => {
      await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
      return { content: "never", isError: false };
    });
    const ports = portsWith(asks);
    const executing = executeCall(deliveryOf(request()), ports, never);
    await questionIn(ports);
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "question", "cancelled"]);
  });

  test("that asks without end is told to stop", async () => {
    const asks = toolOf(async ({ ask }) => {
      for (;;) await ask({ message: "which?", schema: {}, askedBy: "mcp:x" });
    });
    const ports = portsWith(asks);
    const executing = executeCall(deliveryOf(request()), ports, never);
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
      content: expect.stringContaining("more than 10 questions"),
    });
  });
});
