import type { Choice, Scheduler } from "./scheduler.ts";

/** A simulated world in its initial state. */
export interface World {
  readonly scheduler: Scheduler;
  /** Identifies the state: two worlds of the same name behave identically. */
  readonly name: string;
  /** The violations found so far. */
  readonly violations: readonly string[];
  choices(): readonly Choice[];
  /** Runs the world to its end without further faults, with sweeps, and returns the violations found there. */
  playOut(note: (what: string) => void): Promise<readonly string[]>;
}

export interface Bounds {
  /** The maximum number of faults in one world: deaths, lost answers, and lost or redelivered messages. */
  readonly faults: number;
  /** The maximum number of worlds to visit. */
  readonly worlds?: number;
}

export interface Explored {
  /** The number of distinct worlds. */
  readonly worlds: number;
  /** The worlds in which no actor could act any more, each played out to its end. */
  readonly ends: number;
  /** Whether the exploration covered all worlds within the bounds. */
  readonly isAll: boolean;
}

/** The violations, with the list of steps that led to them. */
export class Counterexample extends Error {
  override readonly name = "Counterexample";
}

/**
 * Explores all orders in which the acts of a world can happen, with a bounded number of faults. Orders that lead to the
 * same state are followed once. Throws the first counterexample.
 */
export async function explore(
  setUp: () => Promise<World>,
  { faults, worlds = Infinity }: Bounds,
): Promise<Explored> {
  const seen = new Map<string, number>();
  const open: (readonly string[])[] = [[]];
  let ends = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const world = await setUp();
    const walk = await Walk.along(world, path);
    try {
      for (;;) {
        const { name } = world;
        if ((seen.get(name) ?? Infinity) <= walk.faults) break;
        seen.set(name, walk.faults);
        const [first, ...others] = world
          .choices()
          .filter((choice) => walk.faults + choice.faults <= faults);
        if (first === undefined || first.faults > 0) {
          ends++;
          for (const other of world.choices()) {
            if (walk.faults + other.faults <= faults) open.push([...walk.path, other.name]);
          }
          await walk.playOut();
          break;
        }
        for (const other of others) open.push([...walk.path, other.name]);
        await walk.take(first);
      }
    } finally {
      await world.scheduler.end();
    }
    if (seen.size >= worlds) return { worlds: seen.size, ends, isAll: false };
  }
  return { worlds: seen.size, ends, isAll: true };
}

/** One order of steps, from the initial state. */
class Walk {
  readonly path: string[] = [];
  faults = 0;
  readonly #world: World;
  /** The steps of the play-out, after the last choice. */
  readonly #after: string[] = [];

  private constructor(world: World) {
    this.#world = world;
  }

  static async along(world: World, path: readonly string[]): Promise<Walk> {
    const walk = new Walk(world);
    await world.scheduler.settled();
    for (const name of path) {
      const choice = world.choices().find((each) => each.name === name);
      if (choice === undefined)
        throw new Error(`the world is not deterministic: no choice "${name}" on replay`);
      await walk.take(choice);
    }
    return walk;
  }

  async take(choice: Choice): Promise<void> {
    this.path.push(choice.name);
    this.faults += choice.faults;
    await choice.take();
    await this.#world.scheduler.settled();
    this.#check(this.#world.violations);
  }

  async playOut(): Promise<void> {
    this.#check(await this.#world.playOut((what) => this.#after.push(what)));
  }

  #check(violations: readonly string[]): void {
    if (violations.length === 0) return;
    const happened = [...this.path, "— no actor can act —", ...this.#after];
    const steps = happened.map((what, index) => `${String(index + 1).padStart(4)}  ${what}`);
    throw new Counterexample(`${violations.join("; ")}\n${steps.join("\n")}`);
  }
}

/** Takes `walks` random walks through the worlds, with a bounded number of faults in each. The same seed gives the same walks. */
export async function walkRandomly(
  setUp: () => Promise<World>,
  {
    faults,
    walks,
    seed,
  }: { readonly faults: number; readonly walks: number; readonly seed: number },
): Promise<Explored> {
  const random = seededRandom(seed);
  const seen = new Set<string>();
  for (let count = 0; count < walks; count++) {
    const world = await setUp();
    const walk = await Walk.along(world, []);
    try {
      for (;;) {
        seen.add(world.name);
        const possible = world.choices().filter((choice) => walk.faults + choice.faults <= faults);
        const free = possible.filter((choice) => choice.faults === 0);
        const faulty = possible.filter((choice) => choice.faults > 0);
        const wanted = faulty.length > 0 && (free.length === 0 || random() < 0.08) ? faulty : free;
        const chosen = wanted[Math.floor(random() * wanted.length)];
        if (chosen === undefined) break;
        await walk.take(chosen);
      }
      await walk.playOut();
    } finally {
      await world.scheduler.end();
    }
  }
  return { worlds: seen.size, ends: walks, isAll: false };
}

/** Returns a generator of numbers from 0 to 1 that is determined by a seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
