import type { Executor } from "./executor.ts";

/** Agents elsewhere. A spec names one with `endpoint`; a request cannot. */
export const a2aExecutor = {
  name: "a2a",
  startedBy: undefined,
  lacks: () => ({}),
} as const satisfies Executor;
