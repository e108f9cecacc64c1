import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead, outputOf } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
}

/** A model that answers what `play` says, in two pieces. */
function playedModel(play: (request: ModelRequest) => Said): ModelProvider {
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream(request) {
      const { text = "", calls = [] } = play(request);
      const middle = Math.floor(text.length / 2);
      for (const part of [text.slice(0, middle), text.slice(middle)]) {
        await new Promise(setImmediate);
        if (part !== "") yield { kind: "text", text: part };
      }
      yield {
        kind: "turn",
        turn: {
          messageJson: "{}",
          finishReason: calls.length > 0 ? "tool_calls" : "stop",
          calls: calls.map(({ name, args }, index) => ({
            providerCallId: `p${index}`,
            name,
            argumentsText: JSON.stringify(args),
          })),
          usage: undefined,
          model: "test",
        },
      };
    },
  };
}

/** Plans, has two parts done at once by subtasks that count, one of which is cut up further, and sums up. */
const decomposing = playedModel(({ instructions, messages }) => {
  const input = messages[0]?.role === "user" ? messages[0].text : "";
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  if (instructions.includes("Before the work")) return { text: "1. have it counted\n2. sum up" };
  switch (input) {
    case "count a":
      return results.length === 0
        ? { calls: [{ name: "count", args: {} }] }
        : { text: `a is ${results[0]}` };
    case "count b":
      return results.length === 0
        ? { calls: [{ name: "run_subtask", args: { title: "c", instructions: "count c" } }] }
        : { text: `b is (${results[0]})` };
    case "count c":
      return results.length === 0
        ? {
            calls: [
              { name: "count", args: {} },
              { name: "memory_write", args: { key: "c", value: "seen" } },
            ],
          }
        : { text: `c is ${results[0]}` };
    default:
      return results.length === 0
        ? {
            calls: ["a", "b"].map((part) => ({
              name: "run_subtask",
              args: { title: part, instructions: `count ${part}` },
            })),
          }
        : { text: results.join(", ") };
  }
});

const answer = "a is 1, b is (c is 1)";

const answerOf = (events: readonly RunEvent[]) => outputOf(foldHead(emptyHead, events));
const called = (events: readonly RunEvent[]) =>
  events.filter(({ event }) => event.case === "toolResult" && event.value.result?.name === "count");

// Requirement: CFG-3, LOOP-1
test("a run that plans and decomposes comes to its answer", async () => {
  const stage = await new WorkerBench(decomposing).create({ planningEnabled: true });
  expect(await stage.drive("w")).toBe("acknowledged");
  const events = await stage.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(answerOf(events)).toBe(answer);
  expect(stage.executed).toHaveLength(2);
});

// Requirement: DUR-3
test("it comes to the same answer wherever its worker died, and makes no finished call again", async () => {
  const whole = await new WorkerBench(decomposing).create({ planningEnabled: true });
  await whole.drive("w1");
  const history = await whole.events();
  for (let survived = 1; survived <= history.length; survived++) {
    const stage = new WorkerBench(decomposing);
    await stage.log.append(key, emptyTail, history.slice(0, survived), never);
    await stage.drive("w2");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(answerOf(events)).toBe(answer);
    expect(stage.executed).toHaveLength(2 - called(history.slice(0, survived)).length);
    expect(new Set(stage.executed).size).toBe(stage.executed.length);
  }
});

test("subtasks that wait for a person park the run; it goes on when they are decided", async () => {
  const stage = await new WorkerBench(decomposing).create({ hitlTools: ["count"] });
  await stage.drive("w1");
  expect((await stage.events()).at(-1)?.event.case).toBe("runParked");
  const { approvals } = foldHead(emptyHead, await stage.events());
  expect([...approvals.values()].map(({ parentId }) => parentId)).not.toContain("");
  expect(approvals.size).toBe(2);
  for (const approvalId of approvals.keys()) await stage.decide(ApprovalState.APPROVED, approvalId);
  await stage.drive("w2", 2);
  const events = await stage.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(answerOf(events)).toBe(answer);
});
