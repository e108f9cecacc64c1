/** A signal that never aborts, for work that must not be cancelled, such as releasing a resource. */
export const neverAborts: AbortSignal = new AbortController().signal;
