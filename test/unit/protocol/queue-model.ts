import type { Delivery } from "@reeve/jetstream/queue/port";
import type { Actor, Choice, Scheduler } from "./scheduler.ts";

/** The last sequence of a stream. */
interface StreamPlaces {
  last: number;
}

interface QueueModelOptions {
  readonly dedupes?: boolean;
  /** Shared by the queues of one stream. */
  readonly stream?: StreamPlaces;
  /** Whether all consumers are interchangeable. */
  readonly isInterchangeable?: boolean;
  /** Receives each acknowledgement that removes a message. */
  readonly onAcknowledged?: (actor: Actor, sequence: number) => void;
  /** Whether a message that belongs to another actor is acknowledged: a broken protocol. */
  readonly acknowledgesAbandoned?: boolean | undefined;
}

interface Queued<Message> {
  readonly message: Message;
  readonly sequence: number;
  isOffered: boolean;
  /** The actors that received it, in order of delivery. */
  readonly deliveries: { readonly actor: Actor; isSettled: boolean }[];
}

/**
 * A work queue: a message whose holder is silent is delivered again, whether or not the holder is alive. From then on, the
 * earlier holder cannot return it (`Delivery`). Its acknowledgement counts, as it does in JetStream when it arrives late.
 */
export class QueueModel<Message> {
  readonly #name: string;
  readonly #scheduler: Scheduler;
  readonly #queued = new Map<number, Queued<Message>>();
  readonly #published = new Map<string, number>();
  readonly #removed = new Set<number>();
  readonly #dedupes: boolean;
  readonly #stream: StreamPlaces;
  readonly #isInterchangeable: boolean;
  readonly #onAcknowledged: QueueModelOptions["onAcknowledged"];
  readonly #acknowledgesAbandoned: boolean;

  constructor(
    name: string,
    scheduler: Scheduler,
    {
      dedupes = true,
      stream = { last: 0 },
      isInterchangeable = true,
      onAcknowledged,
      acknowledgesAbandoned = false,
    }: QueueModelOptions = {},
  ) {
    this.#name = name;
    this.#scheduler = scheduler;
    this.#dedupes = dedupes;
    this.#stream = stream;
    this.#isInterchangeable = isInterchangeable;
    this.#onAcknowledged = onAcknowledged;
    this.#acknowledgesAbandoned = acknowledgesAbandoned;
  }

  /** Returns a published message, delivered or not. */
  published: Message | undefined;

  get isEmpty(): boolean {
    return this.#queued.size === 0;
  }

  holds(sequence: number): boolean {
    return this.#queued.has(sequence);
  }

  /** Whether `actor` holds this message (or any message) and has not settled it. */
  isHeldBy(actor: Actor, sequence?: number): boolean {
    return [...this.#queued.values()].some(
      (queued) =>
        queued.deliveries.some((each) => each.actor === actor && !each.isSettled) &&
        (sequence === undefined || queued.sequence === sequence),
    );
  }

  /** Identifies the state: two queues of the same name are equal. */
  get name(): string {
    const queued = [...this.#queued.values()].map(({ sequence, isOffered, deliveries }) => {
      const holders = deliveries.map(({ actor, isSettled }) => (isSettled ? "-" : actor.name));
      return `${sequence}${isOffered ? "!" : ""} ${holders.join(",")}`;
    });
    return `${this.#name} ${queued.join(" ")}`;
  }

  /** The queue from the point of view of one actor. */
  of(actor: Actor) {
    return {
      publish: (message: Message, { dedupeId }: { readonly dedupeId: string }) =>
        this.#scheduler.act({
          actor,
          label: `publishes ${this.#name} ${dedupeId}`,
          kind: "write",
          happen: async () => this.publish(message, dedupeId),
          outcomeOf: String,
        }),
      holds: (sequence: number) =>
        this.#scheduler.act({
          actor,
          label: `asks for ${this.#name} ${sequence}`,
          kind: "look",
          happen: async () => this.holds(sequence),
          late: () => this.#lateLooks(sequence),
          outcomeOf: String,
        }),
      take: (_: number, signal: AbortSignal) => this.#take(actor, signal),
    };
  }

  publish(message: Message, dedupeId: string): number {
    const known = this.#published.get(dedupeId);
    if (known !== undefined && this.#dedupes) return known;
    const sequence = ++this.#stream.last;
    this.published ??= message;
    this.#published.set(dedupeId, sequence);
    const queued = { message, sequence, isOffered: true, deliveries: [] };
    this.#queued.set(sequence, queued);
    return sequence;
  }

  /** The faults that can happen to the queue's messages. */
  choices(): readonly Choice[] {
    return [...this.#queued.values()].flatMap((queued): readonly Choice[] => {
      const { sequence, isOffered, deliveries } = queued;
      const name = `${this.#name} ${sequence}`;
      const lost = { name: `${name} is lost`, faults: 1, take: () => this.#remove(sequence) };
      if (isOffered) return [lost];
      // A consumer that has not settled a delivery extends it.
      const isExtended = ({ actor, isSettled }: (typeof deliveries)[number]) =>
        actor.isAlive && actor.hasEnded !== true && actor.isCutOff !== true && !isSettled;
      const holder = deliveries.find(isExtended)?.actor;
      const again = {
        name: `${name} is offered again${holder === undefined ? "" : ` while ${holder.name} is alive`}`,
        faults: holder === undefined ? 0 : 1,
        take: () => offer(queued),
      };
      return [again, lost];
    });
  }

  /** Takes messages meant for another actor, while `isGone` holds for that actor. */
  async *adopt(
    actor: Actor,
    signal: AbortSignal,
    isGone: () => boolean,
  ): AsyncIterable<Delivery<Message>> {
    yield* this.#take(actor, signal, { label: `adopts as ${actor.name}`, isOpen: isGone });
  }

  async *#take(
    actor: Actor,
    signal: AbortSignal,
    {
      label = this.#isInterchangeable ? "takes" : `takes as ${actor.name}`,
      isOpen = () => true,
    }: { readonly label?: string; readonly isOpen?: () => boolean } = {},
  ): AsyncIterable<Delivery<Message>> {
    for (;;) {
      signal.throwIfAborted();
      yield await this.#scheduler.act({
        actor,
        label: `${label} ${this.#name}`,
        kind: "look",
        isIdle: true,
        signal,
        isPossible: () => isOpen() && actor.isCutOff !== true && this.#offered() !== undefined,
        happen: async () => this.#deliver(actor),
        outcomeOf: ({ sequence }) => String(sequence),
      });
    }
  }

  #offered(): Queued<Message> | undefined {
    return [...this.#queued.values()].find(({ isOffered }) => isOffered);
  }

  #deliver(actor: Actor): Delivery<Message> {
    const queued = this.#offered();
    if (queued === undefined) throw new Error("nothing is offered");
    const { message, sequence } = queued;
    const delivery = { actor, isSettled: false };
    queued.isOffered = false;
    queued.deliveries.push(delivery);
    const settle = () => {
      delivery.isSettled = true;
    };
    const isHeld = () => !queued.isOffered && queued.deliveries.at(-1) === delivery;
    const say = (what: string, happen: () => unknown) => {
      const label = `${what} ${this.#name} ${sequence}`;
      const happened = async () => {
        settle();
        happen();
      };
      const act = { actor, label, kind: "say", happen: happened, outcomeOf: () => "" } as const;
      this.#scheduler.act({ ...act, drop: settle }).catch(() => undefined);
    };
    const acknowledge = () => say("acknowledges", () => this.#acknowledge(actor, sequence));
    return {
      message,
      sequence,
      attempt: queued.deliveries.length,
      extend: () => undefined,
      acknowledge,
      returnToQueue: () => say("gives back", () => isHeld() && offer(queued)),
      abandon: this.#acknowledgesAbandoned ? acknowledge : settle,
    };
  }

  #acknowledge(actor: Actor, sequence: number): void {
    if (this.holds(sequence)) this.#onAcknowledged?.(actor, sequence);
    this.#remove(sequence);
  }

  #remove(sequence: number): void {
    if (this.#queued.delete(sequence)) this.#removed.add(sequence);
  }

  /**
   * A server that was cut off, and still believes that it leads, has messages that are gone. The contrary is no fault that can
   * happen: a look waits until its server has reached the sequence that it asks for.
   */
  #lateLooks(sequence: number): readonly (() => Promise<boolean>)[] {
    return this.#removed.has(sequence) ? [async () => true] : [];
  }
}

function offer<Message>(queued: Queued<Message>): void {
  queued.isOffered = true;
}
