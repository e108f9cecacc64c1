import type { ReviewUsage } from "@reeve/contracts/approval";
import type { RunEvent, Usage } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import { msOf } from "../format/time.ts";
import type { CallItem, Frame, Item, NoteItem, RunModel, TextItem } from "./run-model.ts";
import { newFrame } from "./run-model.ts";

const plannerId = "planner";

/** Returns the frame in which an event occurred. A subtask that is not known yet becomes a part of its call. */
export function frameOf(run: RunModel, { parentId, phase, depth, time }: RunEvent): Frame {
  if (parentId === "" && phase === Phase.PLANNER) return plannerOf(run, msOf(time));
  return run.frames.get(parentId) ?? subtaskFrame(run, parentId, parentId.split("/", 1)[0], depth);
}

function plannerOf(run: RunModel, timeMs: number | undefined): Frame {
  const known = run.frames.get(plannerId);
  if (known !== undefined) return known;
  const frame = newFrame({ id: plannerId, depth: 1, kind: "planner", parent: run.root });
  frame.title = "Planning";
  frame.startedAtMs = timeMs;
  run.frames.set(plannerId, frame);
  add(run.root, { kind: "frame", key: plannerId, version: 0, frame });
  return frame;
}

/** Returns the frame of a subtask, which is added to its call. */
export function subtaskFrame(
  run: RunModel,
  id: string,
  callId: string | undefined,
  depth: number,
): Frame {
  const known = run.frames.get(id);
  if (known !== undefined) return known;
  const call = run.calls.get(callId ?? "");
  const parent = call?.frame ?? run.root;
  const frame = newFrame({ id, depth: Math.max(1, depth), kind: "subtask", parent });
  run.frames.set(id, frame);
  call?.subtasks.push(frame);
  if (call !== undefined) touch(call, parent);
  return frame;
}

/** Gives a frame, and all that contain it, a new version. */
export function touchFrame(frame: Frame | undefined): void {
  for (let each = frame; each !== undefined; each = each.parent) each.version++;
}

function touch(item: Item, frame: Frame): void {
  item.version++;
  touchFrame(frame);
}

export function add(frame: Frame, item: Item): void {
  frame.items.push(item);
  touchFrame(frame);
}

export function addNote(
  frame: Frame,
  { sequence, time }: RunEvent,
  note: Pick<NoteItem, "tone" | "text"> & { readonly detail?: string },
): void {
  add(frame, {
    kind: "note",
    key: `note-${sequence}`,
    version: 0,
    detail: "",
    timeMs: msOf(time),
    ...note,
  });
}

/** Adds what a model call has used to the run, and to a frame and those that it works for. */
export function addUsage(
  run: RunModel,
  frame: Frame,
  { inputTokens, outputTokens, costUsd = 0 }: ReviewUsage | Usage,
): void {
  run.usage.modelCalls++;
  run.usage.inputTokens += inputTokens;
  run.usage.outputTokens += outputTokens;
  run.usage.costUsd += costUsd;
  frame.ownUsd += costUsd;
  for (let each: Frame | undefined = frame; each; each = each.parent) each.costUsd += costUsd;
  touchFrame(frame);
}

/** Adds text to the last item of the frame if it belongs to the same answer, or begins a new item. */
export function addText(frame: Frame, event: RunEvent, kind: TextItem["kind"], text: string): void {
  const { sequence, stepNumber: step } = event;
  const last = frame.items.at(-1);
  const part = { sequence, text };
  if (last?.kind === kind && last.step === step) {
    last.parts.push(part);
    last.text += text;
    return touch(last, frame);
  }
  add(frame, { kind, key: `${kind}-${sequence}`, version: 0, step, parts: [part], text });
}

/** Removes the text and reasoning of a step from `first` on, which the model gave in an attempt that was abandoned. */
export function voidText(frame: Frame, step: number, first: number): void {
  const kept = frame.items.flatMap((item): readonly Item[] => {
    if ((item.kind !== "text" && item.kind !== "reasoning") || item.step !== step) return [item];
    const parts = item.parts.filter(({ sequence }) => sequence < first);
    if (parts.length === 0) return [];
    item.parts = parts;
    item.text = parts.map(({ text }) => text).join("");
    item.version++;
    return [item];
  });
  frame.items.splice(0, frame.items.length, ...kept);
  touchFrame(frame);
}

/** Changes a call that is known, for example with its result. */
export function changeCall(run: RunModel, callId: string, change: (call: CallItem) => void): void {
  const call = run.calls.get(callId);
  if (call === undefined) return;
  change(call);
  touch(call, call.frame);
}
