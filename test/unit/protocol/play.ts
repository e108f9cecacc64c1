import type { RunEvent } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Log } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { CancelPorts } from "@reeve/run/commands/cancel-run";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import type { RunPorts } from "@reeve/engine/ports/run-ports";

export const key: RunKey = { tenant: "acme", run: "run_simulated" };
/** Returns a signal that never aborts. Each world has its own: listeners of earlier worlds would slow down later ones. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** The behavior of the simulated run. */
export interface Play {
  /** Whether the model calls a tool before it answers. `endless`: the call ends only when it is aborted. */
  readonly tool?: "plain" | "approved" | "idempotent" | "endless";
  readonly workers?: number;
  readonly toolhosts?: number;
  /**
   * How toolhosts know each other when the last of them holds the run's files. `mistaken`: a toolhost that is alive is
   * declared gone once, and the calls sent to it are adopted. Absent: no toolhost knows another.
   */
  readonly routed?: "knowing" | "mistaken";
  /** Whether each worker has a toolhost in its process, to which it hands its calls over. Both die and end together. */
  readonly isOneProcess?: boolean;
  /** Whether following a log, a model call, and a tool call take time; otherwise they are immediate. */
  readonly isSlow?: boolean;
}

/** A part of the protocol that is left out or changed, to prove that the exploration finds the gap. */
export interface Breakage {
  readonly append?: (log: Log<RunKey, RunEvent>) => Log<RunKey, RunEvent>["append"];
  readonly journalAppend?: (
    log: Log<CallKey, ToolCallFact>,
  ) => Log<CallKey, ToolCallFact>["append"];
  readonly dedupes?: boolean;
  /** Whether no gateway sweeps the run. */
  readonly isUnswept?: boolean;
  /** The faults that may happen; absent: all. */
  readonly faults?: RegExp;
  /** Whether workers and toolhosts acknowledge messages that belong to others. */
  readonly acknowledgesAbandoned?: boolean;
  /** Whether dispatches of external writers get lost. */
  readonly isSilent?: boolean;
  /** Changes the ports of a writer that does not own the run. */
  readonly outside?: (ports: CancelPorts) => CancelPorts;
  /** Changes the ports of a worker. */
  readonly worker?: (ports: RunPorts) => RunPorts;
  /** Changes the ports of a toolhost. */
  readonly toolhost?: (ports: CallPorts) => CallPorts;
}
