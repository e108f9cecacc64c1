import type { CallKey } from "@reeve/jetstream/log/call-journal";

/**
 * What is known of the execution of a call: its host executes it or has yet to write its result; it will never have one, because
 * its host is gone or does not execute it; or the host cannot be asked now.
 */
export type ExecutionState = "running" | "lost" | "unknown";

/** The execution of a call on the host that started it. */
export interface Execution {
  readonly key: CallKey;
  readonly host: string;
  /** The sequence of the delivery on whose behalf this is asked. It does not count as an execution. */
  readonly askedFor: number;
}

/** Finds out what became of executions on this host and on others. */
export interface Executions {
  stateOf(execution: Execution, signal: AbortSignal): Promise<ExecutionState>;
}
