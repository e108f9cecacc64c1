/** A signal that never aborts, for work that nobody may cancel, such as releasing a resource. */
export const neverAborts: AbortSignal = new AbortController().signal;
