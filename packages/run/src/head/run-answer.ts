import type { JsonObject } from "@bufbuild/protobuf";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { ModelTurn, RunEvent } from "@reeve/contracts/run";
import { IncompleteReason, Phase } from "@reeve/contracts/run";
import type { ToolCall, ToolResult } from "@reeve/contracts/tool";
import { incompleteReasonOf } from "./incomplete-reason.ts";
import type { Linked } from "./linked.ts";
import { linked } from "./linked.ts";

/** What the root of a run has answered: the part of the head that becomes the output of the run. Never changed in place. */
export interface RunAnswer {
  /** The text at the root, newest part first. */
  readonly output: Linked<TextPart> | undefined;
  /** The step at the root that began the answer which the next text continues. Undefined: it begins an answer. */
  readonly continuedStep: number | undefined;
  /** The last answer with a schema at the root. Undefined: there is none. */
  readonly structured: JsonObject | undefined;
  /** The arguments of the calls at the root that may give the next such answer, by call id. */
  readonly answerCalls: ReadonlyMap<string, JsonObject>;
}

interface TextPart {
  /** The step in which its answer began. */
  readonly step: number;
  readonly sequence: number;
  readonly text: string;
}

export const noAnswer: RunAnswer = {
  output: undefined,
  continuedStep: undefined,
  structured: undefined,
  answerCalls: new Map(),
};

/** Applies one event to an answer, or to anything that has one, such as a head. */
export function applyToAnswer<Answered extends RunAnswer>(
  before: Answered,
  envelope: RunEvent,
): Answered {
  const { event, parentId, phase } = envelope;
  if (event.case === "messageInjected") {
    // The answer to this message is another one.
    return { ...before, continuedStep: undefined, structured: undefined };
  }
  if (parentId !== "" || phase === Phase.PLANNER) return before;
  switch (event.case) {
    case "text":
      return { ...before, output: withText(before, envelope, event.value.text) };
    case "textVoided":
      return { ...before, output: withoutText(before.output, event.value.firstSequence) };
    case "modelTurn":
      return withTurn(before, envelope, event.value);
    case "toolCall":
      return isAnswer(event.value) ? withAnswerCall(before, event.value) : before;
    case "toolResult": {
      const { result } = event.value;
      return isAnswer(result) ? withAnswer(before, result) : before;
    }
    case "runCreated":
    case "runPrepared":
    case "runClaimed":
    case "runParked":
    case "status":
    case "step":
    case "reasoning":
    case "approval":
    case "messageSubmitted":
    case "plan":
    case "toolCallStarted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "mcpProgress":
    case "subtask":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return before;
  }
}

/** Whether a call, or its result, is about the answer of a run that has a schema. */
function isAnswer<Named extends Pick<ToolResult, "name">>(
  named: Named | undefined,
): named is Named {
  return named?.name === finishSubtaskName;
}

function withAnswerCall<Answered extends RunAnswer>(
  before: Answered,
  { callId, arguments: args }: ToolCall,
): Answered {
  if (args === undefined) return before;
  return { ...before, answerCalls: new Map(before.answerCalls).set(callId, args) };
}

/** The answer is in the result, or if a worker of an earlier version wrote that, in the arguments of the call. */
function withAnswer<Answered extends RunAnswer>(
  before: Answered,
  { callId, isError, structured }: ToolResult,
): Answered {
  const answerCalls = new Map(before.answerCalls);
  const args = answerCalls.get(callId);
  answerCalls.delete(callId);
  return isError
    ? { ...before, answerCalls }
    : { ...before, answerCalls: new Map(), structured: structured ?? args ?? before.structured };
}

function withText(
  { output, continuedStep }: RunAnswer,
  { stepNumber, sequence }: RunEvent,
  text: string,
): RunAnswer["output"] {
  return linked(output, { step: continuedStep ?? stepNumber, sequence, text });
}

/** An incomplete answer is the output even if it has no text: an earlier text is not an answer. */
function withTurn<Answered extends RunAnswer>(
  before: Answered,
  envelope: RunEvent,
  { finishReason, callIds }: ModelTurn,
): Answered {
  const reason = incompleteReasonOf(finishReason);
  if (reason === IncompleteReason.UNSPECIFIED || callIds.length > 0) {
    return before.continuedStep === undefined ? before : { ...before, continuedStep: undefined };
  }
  const continuedStep =
    reason === IncompleteReason.TRUNCATED
      ? (before.continuedStep ?? envelope.stepNumber)
      : undefined;
  return { ...before, output: withText(before, envelope, ""), continuedStep };
}

function withoutText(output: RunAnswer["output"], firstSequence: number): RunAnswer["output"] {
  let kept = output;
  while (kept !== undefined && kept.value.sequence >= firstSequence) {
    kept = kept.before;
  }
  return kept;
}
