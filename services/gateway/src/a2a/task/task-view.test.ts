import type { StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { usageExtension } from "@reeve/agent/resolve/remote-usage";
import { ApprovalState } from "@reeve/contracts/approval";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { Phase, RunEventSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { endedTask } from "./ended-task.ts";
import { renderTask } from "./render-task.ts";
import type { TaskChange } from "./task-view.ts";
import { answerText, applyToTask, inputParts, submittedTask } from "./task-view.ts";

type Fact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;
interface Place {
  readonly step?: number;
  readonly parentId?: string;
  readonly phase?: Phase;
}

const start = submittedTask({ taskId: "run_1", contextId: "talk" }, inputParts("hello", []));

/** Applies facts, each at its place, and returns the view with all updates. */
function after(...facts: readonly (readonly [Fact, Place?])[]): TaskChange {
  let view = start;
  const updates: StreamResponse[] = [];
  for (const [index, [event, place = {}]] of facts.entries()) {
    const { step: stepNumber = 1, parentId = "", phase = Phase.EXECUTOR } = place;
    const sequence = index + 1;
    const time = { seconds: BigInt(sequence), nanos: 0 };
    const init = { runId: "run_1", sequence, time, stepNumber, parentId, phase, event };
    const change = applyToTask(view, create(RunEventSchema, init));
    view = change.view;
    updates.push(...change.updates);
  }
  return { view, updates };
}

const text = (value: string): Fact => ({ case: "text", value: { text: value } });
const starting: Fact = { case: "status", value: { status: RunStatus.STARTING } };
const approval = (approvalId: string, state: ApprovalState, question?: string): Fact => ({
  case: "approval",
  value: {
    approval: {
      approvalId,
      state,
      call: { name: "write_file", arguments: { path: "a.txt" } },
      ...(question !== undefined && { question: { message: question } }),
      ...(state === ApprovalState.APPROVED && {
        decision: { decisionId: `of-${approvalId}`, approved: true, answer: { answer: "green" } },
      }),
    },
  },
});

const pieces = ({ updates }: TaskChange) =>
  updates.flatMap(({ payload }) => {
    if (payload?.$case !== "artifactUpdate") return [];
    const content = payload.value.artifact?.parts[0]?.content;
    return [[payload.value.append, content?.value as unknown]];
  });

// Requirement: EVT-3
describe("the state of a task", () => {
  test("is submitted until a worker has the run, and then working", () => {
    expect(start.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const { view, updates } = after([starting]);
    expect(view).toMatchObject({
      state: TaskState.TASK_STATE_WORKING,
      changedAt: "1970-01-01T00:00:01.000Z",
    });
    expect(updates).toHaveLength(1);
  });

  test("needs input as long as an approval or a question is open, also one of a subtask", () => {
    const asked = after(
      [starting],
      [approval("one", ApprovalState.PENDING), { parentId: "call_1" }],
      [approval("two", ApprovalState.PENDING, "Which color?")],
      [approval("one", ApprovalState.APPROVED)],
    );
    expect(asked.view.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.view.message?.parts.map(({ content }) => content?.value as unknown)).toEqual([
      "Which color?",
      { kind: "question", approvalId: "two", question: "Which color?" },
    ]);
    const answered = after(
      [starting],
      [approval("two", ApprovalState.PENDING, "Which color?")],
      [approval("two", ApprovalState.APPROVED, "Which color?")],
    );
    expect(answered.view).toMatchObject({
      state: TaskState.TASK_STATE_WORKING,
      message: undefined,
    });
    expect(answered.view.decisions.has("of-two")).toBe(true);
    expect(answered.view.history.map(({ messageId }) => messageId)).toEqual([
      "run_1-input",
      "two-question",
      "two-answer",
    ]);
  });
});

describe("the answer of a task", () => {
  test("is the text of the last step at the root", () => {
    const change = after(
      [text("Let me "), { step: 1 }],
      [text("look."), { step: 1 }],
      [text("of a subtask"), { step: 1, parentId: "call_1" }],
      [text("a plan"), { step: 0, phase: Phase.PLANNER }],
      [text("Found."), { step: 2 }],
    );
    expect(pieces(change)).toEqual([
      [false, "Let me "],
      [true, "look."],
      [false, "Found."],
    ]);
    expect(answerText(change.view)).toBe("Found.");
  });

  test("loses the text of an abandoned attempt with the next text", () => {
    const change = after(
      [text("It is ")],
      [text("wrong")],
      [{ case: "textVoided", value: { firstSequence: 2 } }],
      [text("right")],
    );
    expect(pieces(change).at(-1)).toEqual([false, "It is right"]);
  });
});

const outcome = (status: RunStatus, more: MessageInitShape<typeof RunSchema> = {}) => ({
  run: create(RunSchema, { runId: "run_1", status, ...more }),
  files: [],
  urlOf: (id: string) => `http://here/${id}`,
});

describe("the end of a task", () => {
  test("repeats no answer that the client has, and corrects another one", () => {
    const { view } = after([starting], [text("done")]);
    const same = endedTask(view, outcome(RunStatus.COMPLETED, { output: "done" }));
    expect(pieces(same)).toEqual([]);
    const other = endedTask(view, outcome(RunStatus.COMPLETED, { output: "all done" }));
    expect(pieces(other)).toEqual([[false, "all done"]]);
    expect(renderTask(same.view, 0)).toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [{ artifactId: "answer" }],
      history: [],
    });
  });

  test("has the typed answer as data, and the files by their addresses", () => {
    const files = [create(ArtifactSchema, { artifactId: "art_1", name: "report.pdf" })];
    const { view } = endedTask(start, {
      ...outcome(RunStatus.COMPLETED, { structuredOutput: { sum: 3 } }),
      files,
    });
    const contents = view.artifacts.map(({ parts }) => parts[0]?.content);
    expect(contents).toEqual([
      { $case: "data", value: { sum: 3 } },
      { $case: "url", value: "http://here/art_1" },
    ]);
  });

  test("of a failed run says why, and keeps what was said", () => {
    const { view } = after([starting], [text("Half")]);
    const error = { reason: "iteration_limit", message: "20 steps were not enough" };
    const ended = endedTask(view, outcome(RunStatus.ERROR, { error })).view;
    expect(ended.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(ended.message?.parts[0]?.content?.value).toBe("20 steps were not enough");
    expect(ended.artifacts).toHaveLength(1);
    const canceled = endedTask(view, outcome(RunStatus.CANCELLED)).view;
    expect(canceled.state).toBe(TaskState.TASK_STATE_CANCELED);
  });
});

function used(times: number) {
  return {
    inputTokens: 100 * times,
    outputTokens: 20 * times,
    cachedInputTokens: 60 * times,
    cacheWriteInputTokens: 0,
    costUsd: 0.25 * times,
  };
}

// Requirement: RES-7
test("a task says what it has used when it needs input, and in total when it has ended", () => {
  const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, costUsd: 0.25 };
  const call: Fact = { case: "usage", value: usage };
  const asked = after([starting], [call], [call], [approval("one", ApprovalState.PENDING)]);
  expect(asked.view.metadata).toEqual({ [usageExtension]: used(2) });
  const answered = after(
    [call],
    [approval("one", ApprovalState.PENDING)],
    [approval("one", ApprovalState.APPROVED)],
  );
  expect(answered.view.metadata).toBeUndefined();
  const { view } = endedTask(asked.view, outcome(RunStatus.COMPLETED, { cost: used(3) }));
  expect(renderTask(view, 0).metadata).toEqual({ [usageExtension]: used(3) });
});

test("a long answer costs as much for its last piece as for its first", () => {
  const many = Array.from({ length: 50_000 }, () => [text("token ")] as const);
  const { view } = after([starting], ...many);
  expect(answerText(view)).toHaveLength(50_000 * 6);
});
