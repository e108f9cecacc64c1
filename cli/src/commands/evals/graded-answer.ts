import type { JsonValue } from "@bufbuild/protobuf";

/** What a grader says of an answer. */
export interface Grade {
  /** What was checked, for people and to compare evals: `contains "30 days"`. */
  readonly name: string;
  readonly passed: boolean;
  /** Why it failed, or what the model says. Empty if there is nothing to say. */
  readonly detail: string;
  /** Whether the grader did not judge the answer, because it crashed or took too long. Default: false. */
  readonly error?: true;
}

/** An answer that is graded. */
export interface GradedAnswer {
  readonly input: string;
  readonly output: string;
  /** What its case expects. Null: the case does not say. */
  readonly expected: JsonValue;
}
