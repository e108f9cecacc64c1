import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { Delivery } from "../port.ts";
import type { LanePull, LaneState } from "./lane-turns.ts";
import { LaneTurns } from "./lane-turns.ts";
import type { PullEnd } from "./pull.ts";
import type { PulledMessage } from "./pulled-message.ts";

/** What a taker needs from the lanes of a queue, which are numbered from 0. */
export interface LaneSource<Message> {
  readonly count: number;
  /** Begins a pull, as `pull` does. */
  pull(
    begun: LanePull,
    onMessage: (message: PulledMessage, pulledAt: number) => void,
    onEnd: (end: PullEnd) => void,
  ): void;
  /** Repairs a lane whose pull failed. Never rejects. */
  recover(lane: number, signal: AbortSignal): Promise<void>;
  /**
   * Makes a delivery of a message. Undefined: the message cannot be read, and was removed. Disposes `permit` when the delivery
   * is settled, or if there is none.
   */
  deliver(
    lane: number,
    message: PulledMessage,
    pulledAt: number,
    permit: Disposable,
  ): Delivery<Message> | undefined;
}

/** How old the answer of a lane may be before the lane is probed again. */
const staleMs = 100;
/**
 * How long a pull that does not wait may keep the slots that it may fill. Servers before 2.12 never end one that competed for the
 * last message of a lane.
 */
const answerMs = 500;

interface Lane extends Pick<LaneState, "pending" | "isPulling"> {
  pending: number;
  isPulling: boolean;
  /** When the lane last said how many messages wait. */
  answeredAt: number;
  /** The open pull, and how many messages it may still bring. */
  open: { waits: boolean; left: number } | undefined;
}

function newLane(): Lane {
  return { pending: 0, isPulling: false, open: undefined, answeredAt: -Infinity };
}

const noPermit: Disposable = { [Symbol.dispose]: () => undefined };

/** Takes messages from the lanes of a queue, as many as there are permits. */
export class LaneTaker<Message> {
  readonly #source: LaneSource<Message>;
  readonly #semaphore: Semaphore;
  readonly #signal: AbortSignal;
  readonly #turns = new LaneTurns();
  readonly #lanes: readonly Lane[];
  readonly #changed = new Wakeup();
  /** Deliveries that nobody has asked for yet. Each has a permit. */
  readonly #taken: Delivery<Message>[] = [];
  #isEnded = false;
  #awaitsPermit = false;

  constructor(source: LaneSource<Message>, semaphore: Semaphore, signal: AbortSignal) {
    this.#source = source;
    this.#semaphore = semaphore;
    this.#signal = signal;
    this.#lanes = Array.from({ length: source.count }, newLane);
  }

  /** Returns the next delivery. Rejects with the reason of the signal when it aborts. */
  async next(): Promise<Delivery<Message>> {
    for (;;) {
      this.#signal.throwIfAborted();
      const delivery = this.#taken.shift();
      if (delivery !== undefined) return delivery;
      this.#pullMore();
      await this.#changed.wait(this.#signal);
    }
  }

  /** Returns to the queue what nobody has asked for, and what open pulls still bring. */
  end(): void {
    this.#isEnded = true;
    for (const delivery of this.#taken.splice(0)) delivery.returnToQueue(0);
  }

  #pullMore(): void {
    const { available } = this.#semaphore;
    if (available === 0) return this.#awaitPermit();
    const slots = { available, expected: this.#open(false), waiting: this.#open(true) };
    const staleSince = performance.now() - staleMs;
    const states = this.#lanes.map(({ pending, isPulling, answeredAt }) => ({
      pending,
      isPulling,
      isStale: answeredAt < staleSince,
    }));
    for (const begun of this.#turns.next(states, slots)) this.#pull(begun);
  }

  #open(waits: boolean): number {
    const left = ({ open }: Lane) => (open?.waits === waits ? open.left : 0);
    return this.#lanes.reduce((sum, lane) => sum + left(lane), 0);
  }

  /** Another queue may release a permit that it shares with this one. */
  #awaitPermit(): void {
    if (this.#awaitsPermit) return;
    this.#awaitsPermit = true;
    const look = () => {
      this.#awaitsPermit = false;
      this.#changed.notify();
    };
    this.#semaphore.untilAvailable(this.#signal).then(look, look);
  }

  #pull(begun: LanePull): void {
    const lane = this.#lanes[begun.lane];
    if (lane === undefined) return;
    const open = { waits: begun.waits, left: begun.batch };
    lane.open = open;
    lane.isPulling = true;
    const onMessage = (message: PulledMessage, pulledAt: number) => {
      const { pending, deliveryCount } = message.info;
      open.left -= 1;
      // Messages that were delivered before do not count as pending, and rarely come alone: a worker died.
      lane.pending = Math.max(pending, deliveryCount > 1 ? 1 : 0);
      this.#take(begun.lane, lane, message, pulledAt);
    };
    const giveUp = () => {
      open.waits = true;
      lane.pending = 0;
      this.#changed.notify();
    };
    const timer = begun.waits ? undefined : setTimeout(giveUp, answerMs).unref();
    this.#source.pull(begun, onMessage, (how) => {
      clearTimeout(timer);
      this.#ended(begun.lane, lane, how);
    });
  }

  #take(index: number, lane: Lane, message: PulledMessage, pulledAt: number): void {
    const permit = this.#isEnded || this.#signal.aborted ? undefined : this.#semaphore.tryAcquire();
    const delivery = this.#source.deliver(index, message, pulledAt, permit ?? noPermit);
    if (delivery === undefined) return;
    if (permit === undefined) {
      delivery.returnToQueue(0);
      // The message waits again, and no count of the consumer includes it.
      lane.pending += 1;
      return;
    }
    this.#taken.push(delivery);
    this.#changed.notify();
  }

  #ended(index: number, lane: Lane, how: PullEnd): void {
    lane.open = undefined;
    lane.answeredAt = performance.now();
    if (how !== "filled") lane.pending = 0;
    if (how !== "failed" || this.#isEnded) {
      lane.isPulling = false;
      this.#changed.notify();
      return;
    }
    void this.#source.recover(index, this.#signal).finally(() => {
      lane.isPulling = false;
      this.#changed.notify();
    });
  }
}
