import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A simulated process. It touches the world only through acts, each of which waits for its turn. */
export interface Actor {
  readonly name: string;
  isAlive: boolean;
  /** Whether its process has ended in order: it holds nothing any more, and others take over what it was responsible for. */
  hasEnded?: boolean;
  /**
   * Whether the others cannot reach its process: they take it for gone, and what it holds is given to others. It takes nothing new,
   * but what it does may still arrive.
   */
  isCutOff?: boolean;
  /** The outcomes of its acts, in order. They determine its state and its next acts. */
  learned: string;
}

/**
 * The effect of an act on others: none (`look`), a durable write (`write`), a message without an answer (`say`), or the
 * passing of time (`wait`), which happens only when no actor can do anything else.
 */
type ActKind = "look" | "write" | "say" | "wait";

export interface Act<Value> {
  readonly actor: Actor;
  readonly label: string;
  readonly kind: ActKind;
  /** Whether it can happen now; absent: always. */
  readonly isPossible?: () => boolean;
  /** Whether it changes nothing for any actor and can happen immediately. */
  readonly isTrivial?: () => boolean;
  /** Whether an actor that waits only for this has no other state. */
  readonly isIdle?: boolean;
  /** Withdraws the act when it aborts. */
  readonly signal?: AbortSignal;
  readonly happen: () => Promise<Value>;
  /** Performs the act on replicas that lack the last append, the last two, and so on. Empty: same result. */
  readonly late?: () => readonly (() => Promise<Value>)[];
  /** Called when the act's message is lost. */
  readonly drop?: () => void;
  /** Returns what its actor learns from the result. */
  readonly outcomeOf: (value: Value) => string;
}

interface Waiting {
  readonly act: Act<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** One possible next step of the world. */
export interface Choice {
  readonly name: string;
  /** The number of faults in this step. */
  readonly faults: number;
  readonly take: () => Promise<void> | void;
}

/** Lets the acts of all actors happen one at a time. The explorer chooses the order. */
export class Scheduler {
  /** During set-up, every act happens immediately. */
  isFree = true;
  /** How often time may still pass when no actor can act. */
  waitsLeft = 0;
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
      // A dead process receives no abort.
      if (!act.actor.isAlive || !this.#waiting.includes(waiting)) return;
      this.#remove(waiting);
      reject(act.signal?.reason);
    };
    act.signal?.addEventListener("abort", withdraw, { once: true });
    return (await promise) as Value;
  }

  /** Resolves when every live actor waits for a turn. */
  async settled(): Promise<void> {
    for (;;) {
      await endOfTurns();
      const trivial = this.#waiting.find(({ act }) => act.isTrivial?.() === true);
      if (trivial === undefined) return;
      await this.#happen(trivial);
    }
  }

  choices(): readonly Choice[] {
    const possible = this.#waiting.filter(({ act }) => act.isPossible?.() !== false);
    const moving = possible.filter(({ act }) => act.kind !== "wait");
    const ways = moving.length > 0 || this.waitsLeft === 0 ? moving : possible;
    // Idle actors are interchangeable: one of them is enough.
    const idle = ways.filter(({ act }) => this.isIdle(act.actor));
    return ways
      .filter(
        (each) =>
          idle.find(({ act }) => act.label === each.act.label) === each || !idle.includes(each),
      )
      .flatMap((waiting) => this.#waysOf(waiting));
  }

  /** The state of an actor: its death has an effect (`moves`) or none (`looks`), or it is `blocked`. */
  stateOf(actor: Actor): "moves" | "looks" | "blocked" {
    const acts = this.#waiting.filter(({ act }) => act.actor === actor);
    const possible = acts.filter(({ act }) => act.kind !== "wait" && act.isPossible?.() !== false);
    if (possible.length === 0) return "blocked";
    return possible.some(({ act }) => act.kind !== "look") ? "moves" : "looks";
  }

  /** Whether an actor waits only for work. */
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

  /** The labels of the pending acts: part of the name of a world. */
  get name(): string {
    return this.#waiting.map(({ act }) => `${act.actor.name} ${act.label}`).join("; ");
  }

  /** Ends all actors, so that nothing of this world remains. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const { reject } of [...this.#left, ...this.#waiting.splice(0)]) reject(over);
    await endOfTurns();
  }

  /** Pending acts of dead actors. */
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
        // An act that its actor has withdrawn does not happen, and its error reaches no actor.
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
    if (act.late !== undefined) {
      const old = act.late().map((late, index) => ({
        name: `${name}, as of ${index + 1} appends ago`,
        faults: 1,
        take: () => this.#happen(waiting, late),
      }));
      return [happens, ...old];
    }
    if (act.kind === "write") return [happens, lost];
    return act.kind === "say" ? [happens, unsaid] : [happens];
  }

  async #happen(waiting: Waiting, happen = waiting.act.happen): Promise<void> {
    this.#remove(waiting);
    const { act, resolve, reject } = waiting;
    if (act.kind === "wait") this.waitsLeft--;
    try {
      const value = await happen();
      act.actor.learned += ` ${act.label}:${act.outcomeOf(value)}`;
      resolve(value);
    } catch (error) {
      reject(error);
    }
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }
}

/** Resolves when no actor waits for a turn of the event loop any more, as a worker does before it appends. */
async function endOfTurns(): Promise<void> {
  do await new Promise(setImmediate);
  while (process.getActiveResourcesInfo().includes("Immediate"));
}

const over = new DOMException("this world has ended", "AbortError");
