import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";

/** A call that this host has taken from a queue, or that was handed over to it. */
export interface CallDelivery extends Delivery<ToolCallRequest> {
  /** How many times it was forwarded. Absent: it came from the pool. */
  readonly hops?: number;
  /** Whether who requests the call knows that its run is open at this moment. Absent: the run is looked up. */
  readonly isRunOpen?: () => boolean;
}

/** The calls that a runtime in this process hands over. */
export interface LocalSource {
  /** Notes that this host has taken a message of the queue. */
  taken(sequence: number): void;
  /** Yields the calls that are handed over, each with a permit. Ends when `signal` aborts, by throwing its reason. */
  take(capacity: Semaphore, signal: AbortSignal): AsyncIterable<CallDelivery>;
  /** Resolves when the calls that go to the queue now are there, or could not be published. */
  published(): Promise<void>;
}
