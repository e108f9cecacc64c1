/** What a grader says of an answer. */
export interface Grade {
  /** What was checked, for people and to compare evals: `contains "30 days"`. */
  readonly name: string;
  readonly passed: boolean;
  /** Why it failed, or what the model says. Empty if there is nothing to say. */
  readonly detail: string;
}

/** An answer that is graded. */
export interface GradedAnswer {
  readonly input: string;
  readonly output: string;
}
