import type { EndingProcess } from "./ending-process.ts";
import type { World } from "./explore.ts";
import type { Actor, Choice } from "./scheduler.ts";
import { Scheduler } from "./scheduler.ts";

/** A part of a world that has a state of its own. */
interface Part {
  /** Identifies the state: two parts of the same name are equal. */
  readonly name: string;
}

/** A part whose messages actors hold. */
interface Queue extends Part {
  choices(): readonly Choice[];
  isHeldBy(actor: Actor): boolean;
}

const maxSteps = 500;

/** A world of actors that may die, over logs and queues. */
export abstract class SimulatedWorld implements World {
  readonly scheduler = new Scheduler();
  readonly #actors: Actor[] = [];
  readonly #failures: string[] = [];
  readonly #faults: RegExp | undefined;
  #hadFaults = false;

  /** `faults`: those that may happen. Absent: all. */
  constructor(faults?: RegExp) {
    this.#faults = faults;
  }

  abstract readonly violations: readonly string[];
  protected abstract readonly logs: readonly Part[];
  protected abstract readonly queues: readonly Queue[];
  protected abstract readonly processes: readonly EndingProcess[];

  abstract playOut(note: (what: string) => void): Promise<readonly string[]>;

  get name(): string {
    for (const actor of this.#actors) if (this.#isIdle(actor)) actor.learned = "";
    const actors = this.#actors.map(({ name, isAlive, isCutOff, learned }) =>
      isAlive ? `${name}${isCutOff === true ? "!" : ""}:${learned}` : `${name} is dead`,
    );
    return [...this.logs, ...this.queues, this.scheduler]
      .map((part) => part.name)
      .concat(actors)
      .join("\n");
  }

  /** What went wrong outside of the rules. */
  protected get failures(): readonly string[] {
    return this.#failures;
  }

  /** Whether a fault occurred in this world. */
  protected get hadFaults(): boolean {
    return this.#hadFaults;
  }

  protected get actors(): readonly Actor[] {
    return this.#actors;
  }

  protected fail(error: unknown): void {
    this.#failures.push(String(error));
  }

  actor(name: string): Actor {
    const actor = { name, isAlive: true, learned: "" };
    this.#actors.push(actor);
    return actor;
  }

  /** Starts a process that does one thing and ends. Its errors are ignored: its client may ask again. */
  start(name: string, run: (actor: Actor) => Promise<void>): void {
    const actor = this.actor(name);
    void run(actor).catch(() => undefined);
  }

  /** Lets the actors act until none can. */
  async advance(): Promise<this> {
    await this.untilQuiet(() => undefined);
    return this;
  }

  /** Lets the actors act until a condition holds. */
  async advanceUntil(isReached: () => boolean): Promise<void> {
    for (let count = 0; count < maxSteps && !isReached(); count++) {
      await this.scheduler.settled();
      await this.choices()
        .find(({ faults }) => faults === 0)
        ?.take();
    }
    await this.scheduler.settled();
  }

  /** Cuts an actor off from the others, which is a fault. */
  cutOff(name: string): void {
    const actor = this.#actors.find((each) => each.name === name);
    if (actor === undefined) throw new Error(`the world has no ${name}`);
    actor.isCutOff = true;
    this.#hadFaults = true;
  }

  choices(): readonly Choice[] {
    const mortal = this.#actors.filter((actor) => this.#mayDie(actor));
    const deaths = mortal.map((actor) => ({
      name: `${actor.name} dies`,
      faults: 1,
      take: () => this.scheduler.kill(actor),
    }));
    const all = [
      ...this.scheduler.choices(),
      ...this.queues.flatMap((queue) => queue.choices()),
      ...this.processes.flatMap((each) => each.choices(this.#mayDie(each.actor))),
      ...deaths,
    ];
    return all
      .filter((choice) => choice.faults === 0 || (this.#faults?.test(choice.name) ?? true))
      .map((choice) => (choice.faults === 0 ? choice : this.#remembered(choice)))
      .toSorted((a, b) => a.faults - b.faults);
  }

  protected async untilQuiet(note: (what: string) => void): Promise<void> {
    for (let count = 0; count < maxSteps; count++) {
      await this.scheduler.settled();
      const next = this.choices().find(({ faults }) => faults === 0);
      if (next === undefined) return;
      note(next.name);
      await next.take();
    }
    this.#failures.push("the world never settles");
  }

  #isIdle(actor: Actor): boolean {
    return !this.#holds(actor) && this.scheduler.isIdle(actor);
  }

  #remembered({ take, ...choice }: Choice): Choice {
    return {
      ...choice,
      take: async () => {
        this.#hadFaults = true;
        await take();
      },
    };
  }

  /** Whether the death of this actor now makes a difference: it is about to write, or others wait for it. */
  #mayDie(actor: Actor): boolean {
    if (!actor.isAlive) return false;
    const state = this.scheduler.stateOf(actor);
    return state === "moves" || (state === "blocked" && this.#holds(actor));
  }

  #holds(actor: Actor): boolean {
    return this.queues.some((queue) => queue.isHeldBy(actor));
  }
}
