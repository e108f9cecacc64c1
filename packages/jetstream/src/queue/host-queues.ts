import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import type { WorkQueue } from "./port.ts";

/**
 * The calls that were sent on to single hosts of a pool. They lie in the same stream as those of the pool: a place of one is
 * never that of another.
 */
export interface HostQueues {
  /** The way to a host. It does not have to be there. */
  to(host: string): Pick<WorkQueue<ForwardedToolCall>, "publish" | "holds">;
  /** The hosts for which calls may lie, living and gone. */
  hosts(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The queue of a host, for itself or for whoever takes its place: what it has taken, and fell silent over, is delivered
   * again as the very message.
   */
  open(host: string): Promise<Pick<WorkQueue<ForwardedToolCall>, "take">>;
  /** How many calls lie for a host. */
  backlog(host: string, signal: AbortSignal): Promise<HostBacklog>;
  /** Takes the queue of a host away. What lies there stays, and is known again. */
  remove(host: string, signal: AbortSignal): Promise<void>;
}

export interface HostBacklog {
  /** Nobody has taken them. */
  readonly waiting: number;
  /** Somebody has, or had. */
  readonly delivered: number;
}
