import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { expect, test } from "vitest";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

interface Answer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
}

/** Creates a model that streams the answers of `play` in two parts. */
function playedModel(play: (request: ModelRequest) => Answer): ModelProvider {
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

/** Plans, starts two subtasks at once, one of which starts another subtask, and combines their results. */
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
test("a run with a plan and subtasks completes", async () => {
  const bench = await new WorkerBench(decomposing).create({ planningEnabled: true });
  expect(await bench.drive("w")).toBe("acknowledged");
  const events = await bench.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(answerOf(events)).toBe(answer);
  expect(bench.executed).toHaveLength(2);
});

// Requirement: DUR-3
test("such a run gives the same answer wherever its worker died, and repeats no finished call", async () => {
  const whole = await new WorkerBench(decomposing).create({ planningEnabled: true });
  await whole.drive("w1");
  const history = await whole.events();
  for (let survived = 1; survived <= history.length; survived++) {
    const bench = new WorkerBench(decomposing);
    await bench.log.append(key, emptyTail, history.slice(0, survived), never);
    await bench.drive("w2");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(answerOf(events)).toBe(answer);
    expect(bench.executed).toHaveLength(2 - called(history.slice(0, survived)).length);
    expect(new Set(bench.executed).size).toBe(bench.executed.length);
  }
});

test("a run whose subtasks wait for approvals is parked, and continues after the decisions", async () => {
  const bench = await new WorkerBench(decomposing).create({ hitlTools: ["count"] });
  await bench.drive("w1");
  expect((await bench.events()).at(-1)?.event.case).toBe("runParked");
  const approvals = approvalsOf(foldHead(emptyHead, await bench.events()));
  expect(approvals.map(({ parentId }) => parentId)).not.toContain("");
  expect(approvals).toHaveLength(2);
  for (const { approvalId } of approvals) await bench.decide(ApprovalState.APPROVED, approvalId);
  await bench.drive("w2", 2);
  const events = await bench.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(answerOf(events)).toBe(answer);
});
