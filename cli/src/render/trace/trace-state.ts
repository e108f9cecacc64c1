import type { CostSummary } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";

/** What a trace carries from one event to the next. */
export interface TraceState {
  /** The run and its agent, as far as they are known. */
  readonly title: string;
  /** What answers: a model or a script. Undefined until it is known. */
  readonly source: string | undefined;
  /** Parts of the input, which follow the header. */
  readonly attached: readonly ContentPart[];
  /** Whether the header has been printed. */
  readonly hasHeader: boolean;
  /** The line that streamed text has left open. */
  readonly openLine: OpenLine | undefined;
  /** When the run was accepted, in milliseconds since the epoch. */
  readonly startedMs: number | undefined;
  readonly cost: CostSummary | undefined;
  /** How many tool calls failed, apart from those that people rejected. */
  readonly failedCalls: number;
  /** How many attempts of the current model call did not reach the provider, by subtask id. */
  readonly uncalled: ReadonlyMap<string, number>;
  /** Text of subtasks by subtask id, held back until it is complete because several subtasks stream at the same time. */
  readonly subtaskText: ReadonlyMap<string, string>;
}

export interface OpenLine {
  readonly kind: "text" | "reasoning";
  /** Whether the next character begins a new line. */
  readonly atStart: boolean;
}

export const emptyTrace: TraceState = {
  title: "",
  source: undefined,
  attached: [],
  hasHeader: false,
  openLine: undefined,
  startedMs: undefined,
  cost: undefined,
  failedCalls: 0,
  uncalled: new Map(),
  subtaskText: new Map(),
};
