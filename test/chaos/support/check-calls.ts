import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import type { ToolCallFact, ToolResult } from "@reeve/contracts/tool";
import type { Marks, RunEvidence } from "./evidence.ts";
import type { PlannedEffect } from "./run-plan.ts";
import { effectsOf } from "./run-plan.ts";
import { tagOf } from "./worker-agent.ts";

/** Whether a toolhost was harmed in that time, or had just been. */
export type Hurt = (host: string, fromMs: number, toMs: number) => boolean;

/** A call as log, journal and world tell of it. */
interface KnownCall {
  readonly effect: PlannedEffect;
  readonly callId: string;
  readonly marks: Marks;
  /** Whether it is said that what it did to files is gone. */
  readonly isLost: boolean;
  readonly journal: readonly ToolCallFact[];
  readonly starts: readonly ToolCallFact[];
  isStarted: boolean;
  approval: ApprovalState | undefined;
  results: ToolResult[];
  endedMs: number;
}

/** How often a call may be begun that may be made again. */
const maxStarts = 3;
const nothing: Marks = { times: 0, ends: 0 };

/** What is wrong with the calls of a run and with what they did. */
export function callViolations(evidence: RunEvidence): readonly string[] {
  const calls = callsOf(evidence);
  const called = new Set([...calls.values()].map(({ effect }) => effect.tag));
  const broken = effectsOf(evidence.plan)
    .filter(({ tag }) => !called.has(tag) && (evidence.marks.get(tag)?.times ?? 0) > 0)
    .map(({ tag }) => `${tag} happened and was never called`);
  for (const call of calls.values()) {
    const { kind, tag } = call.effect;
    const isEnded = evidence.stored.some(({ event }) => event.case === "treeStored");
    const findings = [
      ...journalViolations(call),
      ...effectViolations(call),
      ...resultViolations(call, isEnded && !isCancelled(evidence)),
    ];
    broken.push(...findings.map((what) => `${tag} (${kind}, ${call.callId}) ${what}`));
  }
  return broken;
}

function isCancelled({ stored }: RunEvidence): boolean {
  return stored.some(({ event }) => event.case === "cancelRequested");
}

/** How many calls came to no known outcome. */
export function unknownOutcomes(stored: readonly RunEvent[]): number {
  return stored.filter(
    ({ event }) => event.case === "toolResult" && isUnknown(event.value.result?.content ?? ""),
  ).length;
}

function isUnknown(content: string): boolean {
  return /outcome.* is unknown/.test(content);
}

function callsOf({
  plan,
  stored,
  journals,
  marks,
  lost,
}: RunEvidence): ReadonlyMap<string, KnownCall> {
  const effects = new Map(effectsOf(plan).map((effect) => [effect.tag, effect]));
  const calls = new Map<string, KnownCall>();
  for (const { event, time } of stored) {
    if (event.case === "toolCall") {
      const { callId, arguments: args = {} } = event.value;
      const effect = effects.get(tagOf(args));
      if (effect === undefined) continue;
      const journal = journals.get(callId) ?? [];
      calls.set(callId, {
        effect,
        callId,
        journal,
        marks: marks.get(effect.tag) ?? nothing,
        isLost: lost.has(callId),
        starts: journal.filter(({ fact }) => fact.case === "started"),
        isStarted: false,
        approval: undefined,
        results: [],
        endedMs: 0,
      });
    } else if (event.case === "toolCallStarted") {
      const call = calls.get(event.value.callId);
      if (call !== undefined) call.isStarted = true;
    } else if (event.case === "approval") {
      const { call: asked, state } = event.value.approval ?? {};
      const call = calls.get(asked?.callId ?? "");
      if (call !== undefined) call.approval = state;
    } else if (event.case === "toolResult" && event.value.result !== undefined) {
      const call = calls.get(event.value.result.callId);
      call?.results.push(event.value.result);
      if (call !== undefined && time !== undefined) call.endedMs = timestampMs(time);
    }
  }
  return calls;
}

/** A journal has one end and nothing after it, and begins no call again that may not be. */
function journalViolations({ effect, journal, starts, isStarted }: KnownCall): readonly string[] {
  const broken: string[] = [];
  const end = journal.findIndex(isLast);
  if (end >= 0 && end < journal.length - 1) {
    broken.push(`has ${journal[end + 1]?.fact.case} in its journal after its end`);
  }
  const most = mayBeMadeAgain(effect) ? maxStarts : 1;
  if (starts.length > most) broken.push(`was begun ${starts.length} times`);
  if (!isStarted && starts.length > 0) broken.push("was begun before the run said so");
  return broken;
}

/** The world shows no more than the journal, and never twice what may happen once. */
function effectViolations({ effect, marks, starts, approval }: KnownCall): readonly string[] {
  const broken: string[] = [];
  if (effect.kind !== "note" && marks.times > 1) broken.push(`happened ${marks.times} times`);
  if (marks.times > starts.length) {
    broken.push(`happened ${marks.times} times and was begun ${starts.length} times`);
  }
  if (effect.kind === "pay" && approval !== ApprovalState.APPROVED && marks.times > 0) {
    broken.push("happened and nobody had approved it");
  }
  return broken;
}

/** The result that the model read is that of the journal, and true of the world. */
function resultViolations(call: KnownCall, isWhole: boolean): readonly string[] {
  const { effect, marks, journal, starts, results, isStarted } = call;
  const [result, second] = results;
  if (result === undefined) return isWhole ? ["has no result"] : [];
  const broken: string[] = [];
  if (second !== undefined) broken.push(`has ${results.length} results`);
  if (!isStarted) {
    const isRefusal = result.isError && effect.kind === "pay";
    return isRefusal ? broken : [...broken, `has a result and was never handed out`];
  }
  const last = journal.find(isLast)?.fact;
  if (last?.case === "result" && last.value.content !== result.content) {
    broken.push("has another result than its journal");
  }
  if (last === undefined) broken.push("has a result and its journal none");
  if (!result.isError) {
    const ends = effect.kind === "write" ? 1 : marks.ends;
    const isThere = marks.times > 0 && ends > 0;
    if (!isThere && !call.isLost) broken.push("succeeded and did not happen");
    return broken;
  }
  if (!isUnknown(result.content)) return [...broken, `failed: ${result.content.slice(0, 300)}`];
  if (starts.length === 0) broken.push("has an unknown outcome and was never begun");
  return broken;
}

/** Calls whose outcome is unknown although nothing was done to the host that had them: it was taken for dead by mistake. */
export function falseAlarms(evidence: RunEvidence, hurt: Hurt): number {
  const unknown = [...callsOf(evidence).values()].filter(({ results }) =>
    results.some(({ content, isError }) => isError && isUnknown(content)),
  );
  return unknown.filter(
    ({ starts, endedMs }) =>
      !starts.some(
        ({ fact, time }) =>
          fact.case === "started" &&
          hurt(fact.value.host, time === undefined ? 0 : timestampMs(time), endedMs),
      ),
  ).length;
}

function mayBeMadeAgain({ kind }: PlannedEffect): boolean {
  return kind === "note" || kind === "write";
}

function isLast({ fact }: ToolCallFact): boolean {
  return fact.case === "result" || fact.case === "cancelled";
}
