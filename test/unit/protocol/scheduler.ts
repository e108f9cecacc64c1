import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A process of a simulation. It touches the world only by acts, each of which waits for its turn. */
export interface Actor {
  readonly name: string;
  isAlive: boolean;
  /** What its acts came to, in order: that decides where it is and what it will do. */
  learned: string;
}

/**
 * What an act is to others: nothing (`look`), something that stays (`write`), something that is said and not answered
 * (`say`), or the passing of time, which comes only when nobody can do anything else.
 */
type ActKind = "look" | "write" | "say" | "wait";

export interface Act<Value> {
  readonly actor: Actor;
  readonly label: string;
  readonly kind: ActKind;
  /** Whether it can happen now; absent: always. */
  readonly isPossible?: () => boolean;
  /** Whether it changes nothing for anybody, and may as well happen at once. */
  readonly isTrivial?: () => boolean;
  /** Whether an actor that waits for this and nothing else has forgotten all that was before. */
  readonly isIdle?: boolean;
  /** Withdraws the act when it aborts. */
  readonly signal?: AbortSignal;
  readonly happen: () => Promise<Value>;
  /** As a replica answers it that has not got the last append; undefined: the same. */
  readonly late?: () => (() => Promise<Value>) | undefined;
  /** What becomes of it when it is lost. */
  readonly drop?: () => void;
  /** What its actor learns of it. */
  readonly tell: (value: Value) => string;
}

interface Waiting {
  readonly act: Act<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** One way in which the world may go on. */
export interface Choice {
  readonly name: string;
  /** How many faults it takes. */
  readonly faults: number;
  readonly take: () => Promise<void> | void;
}

/** Lets the acts of all actors happen one at a time, in an order that somebody else chooses. */
export class Scheduler {
  /** While the scene is set, everything happens at once. */
  isFree = true;
  /** How often time may still pass, when nobody can do anything. */
  patience = 0;
  #waiting: Waiting[] = [];
  #isOver = false;

  async act<Value>(act: Act<Value>): Promise<Value> {
    if (this.#isOver || !act.actor.isAlive) throw over;
    act.signal?.throwIfAborted();
    if (this.isFree) return await act.happen();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting = { act: act as Act<unknown>, resolve, reject };
    this.#waiting.push(waiting);
    const withdraw = () => {
      // A dead process hears of nothing.
      if (!act.actor.isAlive || !this.#waiting.includes(waiting)) return;
      this.#remove(waiting);
      reject(act.signal?.reason);
    };
    act.signal?.addEventListener("abort", withdraw, { once: true });
    return (await promise) as Value;
  }

  /** Resolves when everybody who lives waits for a turn. */
  async settled(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const trivial = this.#waiting.find(({ act }) => act.isTrivial?.() === true);
      if (trivial === undefined) return;
      await this.#happen(trivial);
    }
  }

  choices(): readonly Choice[] {
    const possible = this.#waiting.filter(({ act }) => act.isPossible?.() !== false);
    const moving = possible.filter(({ act }) => act.kind !== "wait");
    const ways = moving.length > 0 || this.patience === 0 ? moving : possible;
    // Of several who are idle it does not matter who takes something.
    const idle = ways.filter(({ act }) => this.isIdle(act.actor));
    return ways
      .filter(
        (each) =>
          idle.find(({ act }) => act.label === each.act.label) === each || !idle.includes(each),
      )
      .flatMap((waiting) => this.#waysOf(waiting));
  }

  /** What keeps an actor: `moves` has something to lose by its death, `stands` can do nothing. */
  stateOf(actor: Actor): "moves" | "looks" | "stands" {
    const acts = this.#waiting.filter(({ act }) => act.actor === actor);
    const possible = acts.filter(({ act }) => act.kind !== "wait" && act.isPossible?.() !== false);
    if (possible.length === 0) return "stands";
    return possible.some(({ act }) => act.kind !== "look") ? "moves" : "looks";
  }

  /** Whether an actor has nothing in mind but to take what is offered. */
  isIdle(actor: Actor): boolean {
    const acts = this.#waiting.filter(({ act }) => act.actor === actor);
    return acts.length > 0 && acts.every(({ act }) => act.isIdle === true);
  }

  kill(actor: Actor): void {
    actor.isAlive = false;
    const ended = this.#waiting.filter(({ act }) => act.actor === actor);
    this.#waiting = this.#waiting.filter(({ act }) => act.actor !== actor);
    this.#left.push(...ended);
  }

  /** What the acts that wait are called: part of the name of a world. */
  get name(): string {
    return this.#waiting.map(({ act }) => `${act.actor.name} ${act.label}`).join("; ");
  }

  /** Ends everybody, so that nothing of this world is left behind. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const { reject } of [...this.#left, ...this.#waiting.splice(0)]) reject(over);
    await new Promise(setImmediate);
  }

  /** Acts of the dead. */
  readonly #left: Waiting[] = [];

  #waysOf(waiting: Waiting): readonly Choice[] {
    const { act, reject } = waiting;
    const name = `${act.actor.name} ${act.label}`;
    const happens = { name, faults: 0, take: () => this.#happen(waiting) };
    const lost = {
      name: `${name}, but the answer is lost`,
      faults: 1,
      take: async () => {
        this.#remove(waiting);
        // What its actor does not want any more is not made, and nobody hears that either.
        await act.happen().catch(() => undefined);
        act.actor.learned += ` ${act.label}:unknown`;
        reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "no answer"));
      },
    };
    const unsaid = {
      name: `${name}, but it is lost`,
      faults: 1,
      take: () => {
        this.#remove(waiting);
        act.drop?.();
      },
    };
    const late = act.late?.();
    if (late !== undefined) {
      const old = `${name}, as of one append ago`;
      return [happens, { name: old, faults: 1, take: () => this.#happen(waiting, late) }];
    }
    if (act.kind === "write") return [happens, lost];
    return act.kind === "say" ? [happens, unsaid] : [happens];
  }

  async #happen(waiting: Waiting, happen = waiting.act.happen): Promise<void> {
    this.#remove(waiting);
    const { act, resolve, reject } = waiting;
    if (act.kind === "wait") this.patience--;
    try {
      const value = await happen();
      act.actor.learned += ` ${act.label}:${act.tell(value)}`;
      resolve(value);
    } catch (error) {
      reject(error);
    }
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }
}

const over = new DOMException("this world is over", "AbortError");
