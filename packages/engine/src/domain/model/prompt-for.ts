import { IncompleteReason } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { renderPassages } from "@reeve/knowledge/render-passages";
import { editedNote } from "@reeve/run/tree/edited-note";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { workingAgent } from "../delegates/working-agent.ts";
import { viewOf } from "../state/conversation.ts";
import type { Call, Frame, TurnUnit, Unit } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import { continuesAnswers, reasonOfUnit } from "../incomplete-answer.ts";
import type { PromptMessage, PromptPart } from "./model.ts";
import { modelOf } from "./model-of.ts";
import { filesOf, filesOfResults, fittingFiles, promptFiles, promptParts } from "./prompt-parts.ts";
import { planNote } from "../planner/planner-prompt.ts";
import type { RunState } from "../state/run-state.ts";
import { unitsOf } from "../state/units.ts";

/**
 * Returns the conversation that the model of a frame reads: the input, then each turn verbatim with the results of its calls
 * in the order of the calls. Everything that the runtime adds is in notes, separate from the messages.
 */
export function promptFor(state: RunState, frame: Frame): readonly PromptMessage[] {
  return render(state, frame).messages;
}

/** Returns the messages of the prompt after the answer with which the first `counted` units end. */
export function promptSince(
  state: RunState,
  frame: Frame,
  counted: number,
): readonly PromptMessage[] {
  const { messages, ends } = render(state, frame);
  const last = unitsOf(frame)[counted - 1];
  return messages.slice((last && ends.get(last)) ?? 0);
}

type UserUnit = Extract<Unit, { kind: "user" }>;

interface Rendered {
  readonly messages: readonly PromptMessage[];
  /** For each turn, the number of messages up to its answer, without the results. */
  readonly ends: ReadonlyMap<Unit, number>;
}

function render(state: RunState, frame: Frame): Rendered {
  const view = viewOf(unitsOf(frame), frame.compaction);
  const messages: PromptMessage[] = [];
  const ends = new Map<Unit, number>();
  if (view.summary !== "") {
    messages.push({ role: "user", text: `[summary of the conversation so far]\n${view.summary}` });
  }
  // The note of an answer without calls is added to the next message of the user.
  let pendingNote = "";
  const annotated = annotatedUnit(view.units);
  const continues = continuesAnswers(workingAgent(state, frame).spec);
  const media = mediaFor(state, frame, view.units);
  for (const [index, unit] of view.units.entries()) {
    const notes = [pendingNote, ...(unit === annotated ? notesOf(state, frame) : [])].filter(
      (note) => note !== "",
    );
    if (unit.kind === "user") {
      messages.push(userMessage(unit, media?.partsOf(unit) ?? [], notes));
      pendingNote = "";
    } else {
      ends.set(unit, messages.length + 1);
      const own = messagesOf(unit);
      messages.push(...(media === undefined ? own : media.withFiles(unit, own)));
    }
    if (unit.kind === "past") pendingNote = noteAfter(unit.messages);
    if (unit.kind === "turn" && unit.calls.length === 0) {
      const isLast = view.units[index + 1]?.kind !== "user";
      const reminder =
        refusalOf(unit) ??
        reminderFor(frame, unit) ??
        (continues && isLast ? requestToContinue(unit) : undefined);
      if (reminder !== undefined) {
        const { advisory } = unit.turn;
        messages.push({
          role: "user",
          text: reminder,
          ...(advisory !== "" && { notes: [advisory] }),
        });
      } else pendingNote = unit.turn.advisory;
    }
  }
  return { messages, ends };
}

/** Returns the message with the notes on the whole task: the input, or the next user message if compaction removed the input. */
function annotatedUnit(units: readonly Unit[]): Unit | undefined {
  const ofUser = units.filter((unit) => unit.kind === "user");
  return ofUser.find(({ isInput }) => isInput) ?? ofUser[0];
}

/** Returns the notes on the whole task: memories of the user, passages of documents, and the plan. */
function notesOf(state: RunState, { id, subtask }: Frame): readonly string[] {
  if (subtask !== undefined) return [];
  const recalled = state.head.prepared?.recalled ?? [];
  const passages = renderPassages(state.head.prepared?.passages ?? []);
  return [...recalled, passages, id === plannerId ? "" : planNote(state.plan)];
}

/** Returns the reminder for a subtask or a run that answered with text although its result has a schema. */
function reminderFor({ id, tools }: Frame, { calls }: TurnUnit): string | undefined {
  return calls.length === 0 && tools.has(finishSubtaskName)
    ? `Call ${finishSubtaskName} with the result to end this ${id === rootId ? "run" : "subtask"}; go on if it is not done.`
    : undefined;
}

/** Returns the request for another answer in place of one that guards refused. */
function refusalOf({ refusal }: TurnUnit): string | undefined {
  return refusal && `Your answer was not shown to anybody: ${refusal}. Answer again, without that.`;
}

/** Returns the request to continue a truncated answer. */
function requestToContinue(unit: TurnUnit): string | undefined {
  return reasonOfUnit(unit) === IncompleteReason.TRUNCATED
    ? "Your answer was cut off at its token limit. Continue it exactly where it ends, and repeat nothing."
    : undefined;
}

/** Units never change, so that their messages are built, and counted, only once. */
const known = new WeakMap<Unit, readonly PromptMessage[]>();

function userMessage(
  unit: UserUnit,
  parts: readonly PromptPart[],
  notes: readonly string[],
): PromptMessage {
  if (parts.length > 0 || notes.length > 0) {
    return {
      role: "user",
      text: unit.text,
      ...(parts.length > 0 && { parts }),
      ...(notes.length > 0 && { notes }),
    };
  }
  const [before] = known.get(unit) ?? [];
  if (before !== undefined) return before;
  const message: PromptMessage = { role: "user", text: unit.text };
  known.set(unit, [message]);
  return message;
}

/** The files of a conversation, as the model of a frame reads them. */
interface Media {
  partsOf(unit: UserUnit): readonly PromptPart[];
  /** Adds to results what the model reads of their files. */
  withFiles(
    unit: Exclude<Unit, UserUnit>,
    messages: readonly PromptMessage[],
  ): readonly PromptMessage[];
}

/** Undefined: the conversation has neither files nor further parts. */
function mediaFor(state: RunState, frame: Frame, units: readonly Unit[]): Media | undefined {
  const hasParts = units.some((unit) => unit.kind === "user" && unit.parts !== undefined);
  if (!hasParts && !units.some((unit) => filesOf(unit).length > 0)) return undefined;
  const fitting = fittingFiles(units);
  const model = modelOf(state, frame);
  return {
    partsOf: ({ parts = [] }) => promptParts(parts, model, fitting),
    withFiles: (unit, messages) => {
      if (unit.kind === "assistant" || filesOf(unit).length === 0) return messages;
      const [...results] = filesOfResults(unit);
      return messages.map((message) => {
        if (message.role !== "tool") return message;
        const files = promptFiles(results.shift() ?? [], model, fitting);
        return files.length === 0 ? message : { ...message, files };
      });
    },
  };
}

function messagesOf(unit: Exclude<Unit, UserUnit>): readonly PromptMessage[] {
  const before = known.get(unit);
  if (before !== undefined) return before;
  const messages = builtMessages(unit);
  known.set(unit, messages);
  return messages;
}

function builtMessages(unit: Exclude<Unit, UserUnit>): readonly PromptMessage[] {
  switch (unit.kind) {
    case "assistant":
      return [{ role: "assistant", text: unit.text }];
    case "past":
      return pastMessages(unit.messages);
    case "turn":
      return turnMessages(unit);
  }
  return [];
}

function turnMessages({ turn, calls, text }: TurnUnit): readonly PromptMessage[] {
  const { format, advisory, providerCallIds } = turn;
  const results = calls.map(({ call, result }, index): PromptMessage => ({
    role: "tool",
    providerCallId: providerCallIds[index] ?? call.callId,
    name: call.name,
    content: result?.content ?? "no result is known",
    isError: result?.isError ?? true,
    ...notesOfResult(editedNote(result), advisory),
  }));
  const own = calls.map((call, index) => ({
    providerCallId: providerCallIds[index] ?? call.call.callId,
    name: call.call.name,
    argumentsText: argumentsText(call),
  }));
  const messageJson = decoder.decode(turn.messageJson);
  return [
    { role: "verbatim", messageJson, ...(format !== "" && { format, text, calls: own }) },
    ...results,
  ];
}

function notesOfResult(...notes: readonly string[]): { readonly notes?: readonly string[] } {
  const present = notes.filter((note) => note !== "");
  return present.length > 0 ? { notes: present } : {};
}

/** Returns the messages of an earlier turn of the thread. Its results carry its note, as they did then. */
function pastMessages(messages: readonly HistoryMessage[]): readonly PromptMessage[] {
  const advisory = advisoryOf(messages);
  return messages
    .flatMap(pastMessage)
    .map((message) =>
      message.role === "tool" && advisory !== "" ? { ...message, notes: [advisory] } : message,
    );
}

/** Returns the note that follows an earlier turn without calls. */
function noteAfter(messages: readonly HistoryMessage[]): string {
  return messages.length === 1 ? advisoryOf(messages) : "";
}

function advisoryOf([first]: readonly HistoryMessage[]): string {
  return first?.message.case === "assistant" ? first.message.value.advisory : "";
}

function pastMessage({ message }: HistoryMessage): readonly PromptMessage[] {
  switch (message.case) {
    case "user":
      return [{ role: "user", text: message.value.text }];
    case "assistant": {
      const { messageJson, format, text, calls } = message.value;
      return [{ role: "verbatim", messageJson: decoder.decode(messageJson), format, text, calls }];
    }
    case "toolResult": {
      const { providerCallId, name, content, isError } = message.value;
      return [{ role: "tool", providerCallId, name, content, isError }];
    }
    case undefined:
      return [];
  }
  return [];
}

function argumentsText({ call }: Call): string {
  return call.arguments === undefined ? call.rawArguments : JSON.stringify(call.arguments);
}

const decoder = new TextDecoder();
