import type { Choice, Scheduler } from "./scheduler.ts";

/** A world as it is before anybody moves. */
export interface World {
  readonly scheduler: Scheduler;
  /** Two worlds of one name cannot be told apart. */
  readonly name: string;
  /** What went wrong up to now. */
  readonly wrong: readonly string[];
  choices(): readonly Choice[];
  /** Lets everything come to its end without any more faults, with whoever repairs, and says what is wrong then. */
  playOut(note: (what: string) => void): Promise<readonly string[]>;
}

export interface Bounds {
  /** How many faults befall one world at most: deaths, answers that are lost, messages that are lost or come again. */
  readonly faults: number;
  /** How many worlds are looked at, at most. */
  readonly worlds?: number;
}

export interface Explored {
  /** Worlds that differ. */
  readonly worlds: number;
  /** Those in which nobody moved any more, and which were played out to their end. */
  readonly ends: number;
  /** Whether these are all that there are within the bounds. */
  readonly isAll: boolean;
}

/** What went wrong, and how it came to that, as a list of what happened. */
export class Counterexample extends Error {
  override readonly name = "Counterexample";
}

/**
 * Goes through all orders in which the acts of a world can happen, with up to so many faults. Orders that lead to the same
 * world, with everybody at the same place, are followed once. Throws the first counterexample.
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

/** One order of what happens, from the beginning. */
class Walk {
  readonly path: string[] = [];
  faults = 0;
  readonly #world: World;
  /** What happened after the last choice. */
  readonly #after: string[] = [];

  private constructor(world: World) {
    this.#world = world;
  }

  static async along(world: World, path: readonly string[]): Promise<Walk> {
    const walk = new Walk(world);
    await world.scheduler.settled();
    for (const name of path) {
      const choice = world.choices().find((each) => each.name === name);
      if (choice === undefined) throw new Error(`a world is not the same again: no "${name}"`);
      await walk.take(choice);
    }
    return walk;
  }

  async take(choice: Choice): Promise<void> {
    this.path.push(choice.name);
    this.faults += choice.faults;
    await choice.take();
    await this.#world.scheduler.settled();
    this.#check(this.#world.wrong);
  }

  async playOut(): Promise<void> {
    this.#check(await this.#world.playOut((what) => this.#after.push(what)));
  }

  #check(wrong: readonly string[]): void {
    if (wrong.length === 0) return;
    const happened = [...this.path, "— nobody moves —", ...this.#after];
    const steps = happened.map((what, index) => `${String(index + 1).padStart(4)}  ${what}`);
    throw new Counterexample(`${wrong.join("; ")}\n${steps.join("\n")}`);
  }
}

/** Takes `walks` ways through worlds by chance, the same ones each time, with up to so many faults in each. */
export async function wander(
  setUp: () => Promise<World>,
  {
    faults,
    walks,
    seed,
  }: { readonly faults: number; readonly walks: number; readonly seed: number },
): Promise<Explored> {
  const random = chance(seed);
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

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
