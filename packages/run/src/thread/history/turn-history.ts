import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ModelTurn, RunEvent } from "@reeve/contracts/run";
import { Phase, StepState } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { HistoryMessage, HistoryTurnSchema } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import type { ToolCall, ToolResult } from "@reeve/contracts/tool";
import { editedNote } from "../../tree/edited-note.ts";
import { GuardedHistory } from "./guarded-history.ts";
import type { HistoryGuards } from "./history-guards.ts";
import { historyGuards } from "./history-guards.ts";
import type { Open } from "./open-call.ts";

interface HistoryOptions {
  /** Returns the result of a call that has none. */
  readonly unfinished?: (callId: string) => string;
  /** Default: those of the log. */
  readonly guards?: HistoryGuards;
  /** Whether messages of people stay that no guard has looked at. Default: they are withheld. */
  readonly keepsUnchecked?: boolean;
}

/**
 * Returns what a run adds to the conversation of its thread: the messages of the root, without those of subtasks and of
 * the planner. Results follow their calls in the order of the calls; a call without a result gets that of `unfinished`.
 * The text that the agent was streaming when the run ended is kept. What guards of the run replaced, refused, or did not pass is
 * not in it. `events` may be a part of the log, of which `guards` then states what its guards look at.
 */
export function turnHistory(
  events: readonly RunEvent[],
  {
    unfinished = () => "the turn ended before this call did",
    guards = historyGuards(events),
    keepsUnchecked = false,
  }: HistoryOptions = {},
): readonly HistoryMessage[] {
  const messages: (HistoryMessage | Open)[] = [];
  const results = new Map<string, ToolResult>();
  let text = "";
  let calls: ToolCall[] = [];
  const guarded = new GuardedHistory(messages, results, guards);
  for (const { event, parentId, phase } of events) {
    if (parentId !== "" || phase === Phase.PLANNER) continue;
    switch (event.case) {
      case "runCreated":
        messages.push(userMessage(event.value.input, event.value.parts));
        guarded.addUser();
        break;
      case "messageInjected":
        messages.push(userMessage(event.value.message?.text ?? "", event.value.message?.parts));
        guarded.addUser();
        guarded.injected += 1;
        break;
      case "modelCallStarted":
        text = "";
        calls = [];
        break;
      case "text":
        text += event.value.text;
        break;
      case "textVoided":
        text = "";
        break;
      case "toolCall":
        calls.push(event.value);
        break;
      case "modelTurn":
        addTurn(messages, event.value, text, calls);
        guarded.addTurn(text, calls);
        text = "";
        calls = [];
        break;
      case "toolResult":
        if (event.value.result !== undefined) {
          results.set(event.value.result.callId, event.value.result);
        }
        break;
      case "toolCallStarted":
      case "subtask":
        guarded.start(event.value.callId);
        break;
      case "pluginHookFinished":
        guarded.apply(event.value);
        break;
      case "step":
        if (event.value.state === StepState.STARTED) guarded.injected = 0;
        break;
      case "runClaimed":
      case "runParked":
      case "runPrepared":
      case "status":
      case "reasoning":
      case "mcpProgress":
      case "approval":
      case "plan":
      case "context":
      case "usage":
      case "modelCallFailed":
      case "modelRetryDue":
      case "tokensCounted":
      case "clientCall":
      case "pluginsPinned":
      case "workflowPrepared":
      case "mediaPrepared":
      case "workflowContinued":
      case "mediaCallStarted":
      case "mediaCallEnded":
      case "remoteTask":
      case "runEnding":
      case "messageSubmitted":
      case "memoryWritten":
      case "todosChanged":
      case "cancelRequested":
      case "budgetExceeded":
      case "error":
      case "costSummary":
      case "treeStored":
      case undefined:
        break;
      default:
        event satisfies never;
    }
  }
  guarded.end(keepsUnchecked);
  if (text !== "" && !guards.checksText) messages.push(assistant({ text }));
  return messages.map((message) =>
    "open" in message ? closed(message, results.get(message.open.callId), unfinished) : message,
  );
}

/** Adds a turn. One that continues a truncated answer becomes one message with it, which no provider has sent. */
function addTurn(
  messages: (HistoryMessage | Open)[],
  event: ModelTurn,
  text: string,
  calls: readonly ToolCall[],
): void {
  const last = messages.at(-1);
  const before = last !== undefined && "message" in last ? last.message : undefined;
  if (before?.case !== "assistant") {
    messages.push(...turn(event, text, calls));
    return;
  }
  messages.pop();
  const whole = before.value.text + text;
  messages.push(...turn({ ...event, format: "", messageJson: new Uint8Array() }, whole, calls));
}

function turn(
  { messageJson, format, providerCallIds, advisory }: ModelTurn,
  text: string,
  calls: readonly ToolCall[],
): readonly (HistoryMessage | Open)[] {
  const idOf = (call: ToolCall, index: number) => providerCallIds[index] ?? call.callId;
  const made = calls.map((call, index) => ({
    providerCallId: idOf(call, index),
    name: call.name,
    argumentsText:
      call.arguments === undefined
        ? call.rawArguments
        : JSON.stringify({ ...call.arguments, ...call.injectedArgs }),
  }));
  return [
    assistant({ text, messageJson, format, calls: made, advisory }),
    ...calls.map((call, index) => ({ open: call, providerCallId: idOf(call, index) })),
  ];
}

function closed(
  { open, providerCallId }: Open,
  result: ToolResult | undefined,
  unfinished: (callId: string) => string,
): HistoryMessage {
  const value = {
    providerCallId,
    name: open.name,
    content: [result?.content ?? unfinished(open.callId), editedNote(result)]
      .filter((part) => part !== "")
      .join("\n"),
    isError: result?.isError ?? true,
    files: result?.files ?? [],
  };
  return create(HistoryMessageSchema, { message: { case: "toolResult", value } });
}

/** Returns a message of the user. */
export function userMessage(text: string, parts: readonly ContentPart[] = []): HistoryMessage {
  const value = { text, parts: [...parts] };
  return create(HistoryMessageSchema, { message: { case: "user", value } });
}

function assistant(value: MessageInitShape<typeof HistoryTurnSchema>): HistoryMessage {
  return create(HistoryMessageSchema, { message: { case: "assistant", value } });
}
