import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { Phase, RunEventSchema } from "@reeve/contracts/run";

/** The place of an event in its run. */
export interface Scope {
  /** The subtask; empty at the root and in the planner. */
  readonly parentId: string;
  readonly depth: number;
  /** The step, from 1; 0 outside of steps, and in the planner. */
  readonly step: number;
  readonly phase: Phase;
}

export const rootScope: Scope = { parentId: "", depth: 0, step: 0, phase: Phase.EXECUTOR };

/** The content of an event, as its generated constructor takes it. */
export type EventInit = Exclude<
  NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>,
  { case: undefined }
>;

/** An event that is not in the log yet. */
export interface Fact {
  readonly scope: Scope;
  readonly event: EventInit;
}

/** Returns a streamed part of a text or of reasoning. */
export function textPart(scope: Scope, kind: "text" | "reasoning", text: string): Fact {
  const value = { text };
  return { scope, event: kind === "text" ? { case: kind, value } : { case: kind, value } };
}

export function fact(scope: Scope, event: EventInit): Fact {
  return { scope, event };
}

/** Returns the size of a fact in a batch, in bytes. */
export function bytesOf(fact: Fact): number {
  return toBinary(RunEventSchema, stamp("", 1, 0, fact)).length;
}

/** Returns the event of a fact at a place in the log. */
export function stamp(
  runId: string,
  sequence: number,
  nowMs: number,
  { scope, event }: Fact,
): RunEvent {
  return create(RunEventSchema, {
    runId,
    sequence,
    time: timestampFromMs(nowMs),
    parentId: scope.parentId,
    depth: scope.depth,
    stepNumber: scope.step,
    phase: scope.phase,
    event,
  });
}
