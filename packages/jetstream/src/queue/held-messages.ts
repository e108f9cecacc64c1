import type { DeliveryLease } from "./delivery-lease.ts";

/** Names a message of a consumer. */
export interface HeldMessage {
  readonly stream: string;
  readonly consumer: string;
  readonly sequence: number;
}

/** The messages of one consumer. */
export interface HeldGroup {
  readonly stream: string;
  readonly consumer: string;
  readonly sequences: readonly number[];
}

/** What happened to a message of a taker. */
export type HeldChange = "taken" | "settled";

/** The messages that a process has taken and not settled, with their leases. */
export class HeldMessages {
  readonly #held = new Map<DeliveryLease, HeldMessage>();
  readonly #onChange: (change: HeldChange) => void;

  constructor(onChange: (change: HeldChange) => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Adds a message until the returned object is disposed. */
  add(message: HeldMessage, lease: DeliveryLease): Disposable {
    this.#held.set(lease, message);
    this.#onChange("taken");
    return {
      [Symbol.dispose]: () => {
        if (this.#held.delete(lease)) this.#onChange("settled");
      },
    };
  }

  /** Ends the leases of all messages: another process has released them. */
  revoke(): void {
    for (const lease of this.#held.keys()) lease.revoke();
  }

  /** Returns the messages whose leases have not lapsed, grouped by consumer. */
  groups(): readonly HeldGroup[] {
    const groups = new Map<string, { stream: string; consumer: string; sequences: number[] }>();
    for (const [lease, { stream, consumer, sequence }] of this.#held) {
      if (!lease.isHeld) continue;
      const key = `${stream} ${consumer}`;
      const group = groups.get(key) ?? { stream, consumer, sequences: [] };
      group.sequences.push(sequence);
      groups.set(key, group);
    }
    return [...groups.values()];
  }
}
