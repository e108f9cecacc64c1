import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import type { WorkQueue } from "./port.ts";

/**
 * The queues of calls that were forwarded to single hosts of a pool. They share a stream with the queue of the pool, so a
 * sequence identifies a call over all of them.
 */
export interface HostQueues {
  /** Returns the writer of a host's queue. The host does not have to be alive. */
  to(host: string): Pick<WorkQueue<ForwardedToolCall>, "publish" | "holds">;
  /** Returns the hosts that may have calls, alive or gone. */
  hosts(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Opens the queue of a host, for the host itself or for another host that adopts its calls. A call that the host took and did
   * not settle is delivered again as the same message. Rejects when `signal` aborts, also while the store is away.
   */
  open(host: string, signal: AbortSignal): Promise<Pick<WorkQueue<ForwardedToolCall>, "take">>;
  /** Returns how many calls the queue of a host holds. */
  backlog(host: string, signal: AbortSignal): Promise<HostBacklog>;
  /** Removes the queue of a host. Calls in it stay stored, and `hosts` returns the host again. */
  remove(host: string, signal: AbortSignal): Promise<void>;
}

/** The calls in the queue of a host. */
export interface HostBacklog {
  /** Calls that no host has taken. */
  readonly waiting: number;
  /** Calls that a host has taken and not settled. */
  readonly delivered: number;
}
