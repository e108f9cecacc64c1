import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import type { ToolCallFact, ToolResult } from "@reeve/contracts/tool";
import type { Marks, RunEvidence } from "./evidence.ts";
import type { PlannedEffect } from "./run-plan.ts";
import { effectsOf } from "./run-plan.ts";
import { tagOf } from "./worker-agent.ts";

/** Returns whether a fault affected a toolhost in an interval or shortly before. */
export type WasAffected = (host: string, fromMs: number, toMs: number) => boolean;

/** A call as the log, the journal, and the world show it. */
interface KnownCall {
  readonly effect: PlannedEffect;
  readonly callId: string;
  readonly marks: Marks;
  /** Whether the run reported that the call's changes to files are lost. */
  readonly isLost: boolean;
  readonly journal: readonly ToolCallFact[];
  readonly starts: readonly ToolCallFact[];
  isStarted: boolean;
  approval: ApprovalState | undefined;
  results: ToolResult[];
  endedMs: number;
}

/** The maximum number of starts of an idempotent call. */
const maxStarts = 3;
const nothing: Marks = { times: 0, ends: 0 };

/** Returns the violations in the calls of a run and in their effects. */
export function callViolations(evidence: RunEvidence): readonly string[] {
  const calls = callsOf(evidence);
  const called = new Set([...calls.values()].map(({ effect }) => effect.tag));
  const violations = effectsOf(evidence.plan)
    .filter(({ tag }) => !called.has(tag) && (evidence.marks.get(tag)?.times ?? 0) > 0)
    .map(({ tag }) => `${tag} happened but was never called`);
  for (const call of calls.values()) {
    const { kind, tag } = call.effect;
    const isEnded = evidence.stored.some(({ event }) => event.case === "treeStored");
    const findings = [
      ...journalViolations(call),
      ...effectViolations(call),
      ...resultViolations(call, isEnded && !isCancelled(evidence)),
    ];
    violations.push(...findings.map((what) => `${tag} (${kind}, ${call.callId}) ${what}`));
  }
  return violations;
}

function isCancelled({ stored }: RunEvidence): boolean {
  return stored.some(({ event }) => event.case === "cancelRequested");
}

/** Returns the number of calls with an unknown outcome. */
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

/** Checks that a journal has at most one end with nothing after it, and that only idempotent calls were restarted. */
function journalViolations({ effect, journal, starts, isStarted }: KnownCall): readonly string[] {
  const violations: string[] = [];
  const end = journal.findIndex(isLast);
  if (end >= 0 && end < journal.length - 1) {
    violations.push(`has ${journal[end + 1]?.fact.case} in its journal after its end`);
  }
  const maxOfCall = isIdempotent(effect) ? maxStarts : 1;
  if (starts.length > maxOfCall) violations.push(`was started ${starts.length} times`);
  if (!isStarted && starts.length > 0)
    violations.push("was started before the run logged the call");
  return violations;
}

/** Checks that the world shows at most the journal's effects, and no repetition of an effect that is not idempotent. */
function effectViolations({ effect, marks, starts, approval }: KnownCall): readonly string[] {
  const violations: string[] = [];
  if (effect.kind !== "note" && marks.times > 1) violations.push(`happened ${marks.times} times`);
  if (marks.times > starts.length) {
    violations.push(`happened ${marks.times} times but was started ${starts.length} times`);
  }
  if (effect.kind === "pay" && approval !== ApprovalState.APPROVED && marks.times > 0) {
    violations.push("happened without approval");
  }
  return violations;
}

/** Checks that the result in the log equals the journal's result and matches the world. */
function resultViolations(call: KnownCall, isWhole: boolean): readonly string[] {
  const { effect, marks, journal, starts, results, isStarted } = call;
  const [result, second] = results;
  if (result === undefined) return isWhole ? ["has no result"] : [];
  const violations: string[] = [];
  if (second !== undefined) violations.push(`has ${results.length} results`);
  if (!isStarted) {
    const isRefusal = result.isError && effect.kind === "pay";
    return isRefusal ? violations : [...violations, `has a result but was never dispatched`];
  }
  const last = journal.find(isLast)?.fact;
  if (last?.case === "result" && last.value.content !== result.content) {
    violations.push("has a different result from its journal");
  }
  if (last === undefined) violations.push("has a result, and its journal has none");
  if (!result.isError) {
    const ends = effect.kind === "write" ? 1 : marks.ends;
    const isThere = marks.times > 0 && ends > 0;
    if (!isThere && !call.isLost) violations.push("succeeded but did not happen");
    return violations;
  }
  if (!isUnknown(result.content)) return [...violations, `failed: ${result.content.slice(0, 300)}`];
  if (starts.length === 0) violations.push("has an unknown outcome but was never started");
  return violations;
}

/** Returns the number of calls with an unknown outcome on hosts without a fault: hosts that were mistakenly declared dead. */
export function falseAlarms(evidence: RunEvidence, wasAffected: WasAffected): number {
  const unknown = [...callsOf(evidence).values()].filter(({ results }) =>
    results.some(({ content, isError }) => isError && isUnknown(content)),
  );
  return unknown.filter(
    ({ starts, endedMs }) =>
      !starts.some(
        ({ fact, time }) =>
          fact.case === "started" &&
          wasAffected(fact.value.host, time === undefined ? 0 : timestampMs(time), endedMs),
      ),
  ).length;
}

function isIdempotent({ kind }: PlannedEffect): boolean {
  return kind === "note" || kind === "write";
}

function isLast({ fact }: ToolCallFact): boolean {
  return fact.case === "result" || fact.case === "cancelled";
}
