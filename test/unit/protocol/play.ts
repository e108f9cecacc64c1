import type { RunEvent } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Log } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { CallPorts } from "@reeve/calls/ports/call-ports";
import type { RunPorts } from "@reeve/engine/ports/run-ports";

export const key: RunKey = { tenant: "acme", run: "run_1" };
export const never = new AbortController().signal;

/** How the run behaves. */
export interface Play {
  /** Whether the model calls a tool before it answers. */
  readonly tool?: "plain" | "approved" | "idempotent";
  readonly workers?: number;
  readonly toolhosts?: number;
  /**
   * How toolhosts know each other, where the last of them has the files of the run. `mistaken`: one who lives is taken for gone
   * once, and what was sent to it is adopted. Absent: each is alone.
   */
  readonly routed?: "knowing" | "mistaken";
  /** Whether it takes a while until a fact is heard of, a model has spoken, a call is executed; else it does not. */
  readonly isSlow?: boolean;
}

/** What is left out of the protocol, or done wrong, to see that it is missed. */
export interface Breakage {
  readonly append?: (log: Log<RunKey, RunEvent>) => Log<RunKey, RunEvent>["append"];
  readonly journalAppend?: (
    log: Log<CallKey, ToolCallFact>,
  ) => Log<CallKey, ToolCallFact>["append"];
  readonly dedupes?: boolean;
  /** Whether nobody looks after the run. */
  readonly isUnswept?: boolean;
  /** Which faults befall the world; absent: any. */
  readonly faults?: RegExp;
  /** Whether what outsiders dispatch reaches nobody. */
  readonly isSilent?: boolean;
  /** The ports of a worker as they ought not to be. */
  readonly worker?: (ports: RunPorts) => RunPorts;
  /** The ports of a toolhost as they ought not to be. */
  readonly toolhost?: (ports: CallPorts) => CallPorts;
}
