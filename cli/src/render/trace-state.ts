import type { CostSummary } from "@reeve/contracts/run";

/** What a trace must remember from one event to the next. */
export interface TraceState {
  /** The run and its agent, as far as they are known. */
  readonly title: string;
  /** What answers: a model, or a script. Undefined: not known yet. */
  readonly answering: string | undefined;
  /** Whether the first line has been written. */
  readonly hasHeader: boolean;
  /** The line that streamed text has left open. */
  readonly openLine: OpenLine | undefined;
  /** When the run was accepted, in milliseconds since the epoch. */
  readonly startedMs: number | undefined;
  readonly cost: CostSummary | undefined;
  /** What subtasks are saying, by their ids: told once it is said, because several speak at once. */
  readonly held: ReadonlyMap<string, string>;
}

export interface OpenLine {
  readonly kind: "text" | "reasoning";
  /** Whether the next character begins a new line. */
  readonly atStart: boolean;
}

export const emptyTrace: TraceState = {
  title: "",
  answering: undefined,
  hasHeader: false,
  openLine: undefined,
  startedMs: undefined,
  cost: undefined,
  held: new Map(),
};
