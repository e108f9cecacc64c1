import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { RenewableDelivery } from "@reeve/jetstream/queue/renewable-delivery";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { callKeyOf } from "../journal/call-key.ts";
import type { Executions } from "../ports/executions.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";

class RenewableCall extends RenewableDelivery<ToolCallRequest> implements CallDelivery {
  readonly hops: number;
  readonly isRunOpen: () => boolean;

  constructor(delivery: CallDelivery) {
    super(delivery);
    this.hops = delivery.hops ?? 0;
    this.isRunOpen = delivery.isRunOpen ?? (() => false);
  }
}

interface InProgress {
  readonly delivery: RenewableCall;
  readonly work: Promise<void>;
}

/**
 * The slots of a toolhost for calls, whichever queue they come from, and the calls in progress. A call keeps its slot until its
 * result is written, so the results that wait for the store are never more than the slots.
 */
export class Slots {
  readonly capacity: Semaphore;
  /** By the sequence of the message, which is below zero where there is none. */
  readonly #inProgress = new Map<number, InProgress>();

  constructor(max: number) {
    this.capacity = new Semaphore(max);
  }

  /** How many slots are in use. */
  get busy(): number {
    return this.capacity.permits - this.capacity.available;
  }

  /** The calls in progress, in the order in which they began. */
  get calls(): readonly CallKey[] {
    return [...this.#inProgress.values()].map(({ delivery }) => callKeyOf(delivery.message));
  }

  /** Starts work on a delivery. Work that is in progress for the same message continues, and settles this delivery. */
  begin(delivery: CallDelivery, work: (delivery: CallDelivery) => Promise<void>): void {
    // A message is redelivered to this host when the process was paused for long. The call still runs, so nothing is lost.
    const known = this.#inProgress.get(delivery.sequence);
    if (known !== undefined) return known.delivery.renew(delivery);
    const held = new RenewableCall(delivery);
    const working = work(held).finally(() => this.#inProgress.delete(held.sequence));
    this.#inProgress.set(held.sequence, { delivery: held, work: working });
  }

  /** Whether a delivery of a call is in progress on this host. `except`: the sequence of one that does not count. */
  isSettling(key: CallKey, { except }: { readonly except?: number } = {}): boolean {
    return [...this.#inProgress.values()].some(
      ({ delivery: { sequence, message } }) =>
        sequence !== except && isSameCall(callKeyOf(message), key),
    );
  }

  /** Resolves when the calls that are in progress now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#inProgress.values()].map(({ work }) => work));
  }
}

/** The executions of a host that has no peers. */
export function ownExecutions(slots: Pick<Slots, "isSettling">): Executions {
  return {
    stateOf: async ({ key, askedFor }) =>
      slots.isSettling(key, { except: askedFor }) ? "running" : "lost",
  };
}

/** Whether two keys name the same call. */
export function isSameCall(one: CallKey, other: CallKey): boolean {
  return one.call === other.call && one.run === other.run && one.tenant === other.tenant;
}
