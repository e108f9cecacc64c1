import { clone } from "@bufbuild/protobuf";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import type { AppendOutcome, EventRange, Log, Tail } from "@reeve/jetstream/log/port";
import { emptyTail, tailAt } from "@reeve/jetstream/log/port";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { ThreadPorts } from "../../src/thread/thread-ports.ts";
import type { ThreadStage } from "./support.ts";
import { never, withMethods } from "./support.ts";

/** A process of a simulation. It touches the world only through its ports. */
export interface Process {
  readonly run: (ports: ThreadPorts) => Promise<void>;
  /** Whether, after it has read or written the thread, it remembers only the thread as it was then. */
  readonly forgets?: boolean;
  /** Whether it has an older version, which writes batches without heads. */
  readonly isOlder?: boolean;
  /** Whether its first read of the end of the thread lacks the last batch. */
  readonly lags?: boolean;
}

export interface Scenario {
  /** Creates a world as it is before the processes start. */
  readonly setUp: () => Promise<{
    readonly stage: ThreadStage;
    readonly processes: readonly Process[];
  }>;
  /** Completes a world in which no process moves any more, and checks it. */
  readonly check: (stage: ThreadStage, crashed: number | undefined) => Promise<void>;
}

/** One process takes its next action, or dies before it. */
interface Choice {
  readonly process: number;
  readonly dies: boolean;
}

/**
 * Goes through all orders in which the acts of the processes can happen, and through the death of one process in front of
 * each of its writings. Orders that lead to the same world, with everybody at the same place, are followed once. Returns
 * the number of worlds that came to rest.
 */
export async function explore({ setUp, check }: Scenario): Promise<number> {
  const seen = new Set<string>();
  const open: (readonly Choice[])[] = [[]];
  let ends = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { stage, processes } = await setUp();
    const world = new World(stage, processes);
    await world.settled();
    for (const choice of path) await world.take(choice);
    for (let reached = path; ;) {
      const { name } = world;
      if (seen.has(name)) break;
      seen.add(name);
      const [first, ...others] = world.choices();
      if (first === undefined) {
        ends += 1;
        world.raise();
        await check(stage, world.crashed);
        break;
      }
      for (const other of others) open.push([...reached, other]);
      reached = [...reached, first];
      await world.take(first);
    }
  }
  return ends;
}

type Act = "read" | "append" | "publish";

interface Actor {
  /** What the process learned, in order: it determines its position and its next actions. */
  learned: string;
  readonly forgets: boolean;
  state: "moves" | "waits" | "done" | "dead";
  next: Act;
  go: () => void;
}

class World {
  crashed: number | undefined;
  readonly #stage: ThreadStage;
  readonly #actors: Actor[];
  /** The content of each log, by its name. */
  readonly #logs = new Map<string, string>();
  #failure: { readonly error: unknown } | undefined;

  constructor(stage: ThreadStage, processes: readonly Process[]) {
    this.#stage = stage;
    this.#actors = processes.map(({ forgets = false }) => ({
      learned: "",
      forgets,
      state: "moves",
      next: "read",
      go: () => undefined,
    }));
    for (const [index, process] of processes.entries()) void this.#run(index, process);
  }

  /** Two worlds with the same name behave the same. */
  get name(): string {
    const logs = [...this.#logs].map(([log, content]) => `${log}:${content}`).toSorted();
    const actors = this.#actors.map(({ state, learned }) => `${state}:${learned}`);
    return [...logs, ...actors].join("\n");
  }

  choices(): readonly Choice[] {
    const waiting = this.#actors.flatMap((actor, process) =>
      actor.state === "waits" ? [{ process, next: actor.next }] : [],
    );
    // No process sees a publication, so the actions of others may as well come later.
    const alone = waiting.find(({ next }) => next === "publish");
    return (alone === undefined ? waiting : [alone]).flatMap(({ process, next }) =>
      // A crash before a read equals a crash before the next action.
      this.crashed === undefined && next !== "read"
        ? [
            { process, dies: false },
            { process, dies: true },
          ]
        : [{ process, dies: false }],
    );
  }

  async take({ process, dies }: Choice): Promise<void> {
    const actor = this.#actors[process];
    if (actor === undefined) throw new Error(`there is no process ${process}`);
    actor.state = dies ? "dead" : "moves";
    if (dies) this.crashed = process;
    else actor.go();
    await this.settled();
  }

  /** Resolves when every living process waits for its next action. */
  async settled(): Promise<void> {
    while (this.#actors.some(({ state }) => state === "moves")) {
      await new Promise(setImmediate);
    }
  }

  /** Throws the unexpected error of a process. */
  raise(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #run(index: number, process: Process): Promise<void> {
    const actor = this.#actors[index];
    if (actor === undefined) return;
    try {
      await process.run(this.#portsOf(actor, process));
    } catch (error) {
      this.#failure ??= { error };
    }
    actor.state = "done";
  }

  #portsOf(actor: Actor, { isOlder = false, lags: isLate = false }: Process): ThreadPorts {
    let lags = isLate;
    const { threads, log, journal, dispatch } = this.#stage;
    return {
      journal,
      threads: {
        ...this.#watched(actor, olderIf(isOlder, threads), "thread", ({ thread }) => thread),
        last: (...args) =>
          this.#read(actor, "state", async () => {
            const isLate = lags;
            lags = false;
            return isLate ? await lastButOne(threads, args[0]) : await threads.last(...args);
          }),
        // With what a run was queued never changes, so it does not matter when a process reads that.
        readPart: (...args) =>
          args[1].sequence > 0
            ? threads.readPart(...args)
            : this.#read(actor, "part", () => threads.readPart(...args)),
      },
      log: this.#watched(actor, log, "run", ({ run }) => run),
      dispatch: {
        publish: async (...args) => {
          await turn(actor, "publish");
          const sequence = await dispatch.publish(...args);
          actor.learned += "p";
          return sequence;
        },
        holds: (...args) => dispatch.holds(...args),
      },
    };
  }

  async #read<Range extends EventRange<unknown>>(
    actor: Actor,
    what: "state" | "part",
    read: () => Promise<Range>,
  ): Promise<Range> {
    await turn(actor, "read");
    const range = await read();
    learn(actor, what === "state", `${what}@${range.tail.sequence}`);
    return range;
  }

  #watched<Key, Event extends { readonly event: { readonly case: string | undefined } }>(
    actor: Actor,
    log: Log<Key, Event>,
    sort: "thread" | "run",
    nameOf: (key: Key) => string,
  ): Log<Key, Event> {
    const read: Log<Key, Event>["read"] = async (...args) => {
      await turn(actor, "read");
      const stretch = await log.read(...args);
      learn(actor, sort === "thread", `${nameOf(args[0])}@${stretch.tail.sequence}`);
      return stretch;
    };
    const append: Log<Key, Event>["append"] = async (...args): Promise<AppendOutcome> => {
      await turn(actor, "append");
      const outcome = await log.append(...args);
      const [key, , events] = args;
      if (outcome.kind === "conflict") actor.learned += conflict;
      else {
        learn(actor, sort === "thread", `${nameOf(key)}@${outcome.tail.sequence}`);
        const kinds = events.map((event) => inShort(event)).join(" ");
        const name = nameOf(key);
        this.#logs.set(name, `${this.#logs.get(name) ?? ""} ${kinds}`);
      }
      return outcome;
    };
    async function* follow(
      key: Key,
      after: number | Tail,
      signal: AbortSignal,
    ): AsyncIterable<EventRange<Event>> {
      for (let tail = typeof after === "number" ? tailAt(after) : after; ;) {
        const stretch = await read(key, tail, signal);
        if (stretch.tail.sequence > tail.sequence) yield stretch;
        ({ tail } = stretch);
      }
    }
    return { read, append, follow };
  }
}

/** Returns the logs as a process without heads writes them, if it is one. */
function olderIf(isOlder: boolean, threads: ThreadLog): ThreadLog {
  if (!isOlder) return threads;
  return withMethods(threads, {
    append: (key, tail, events, signal) => {
      const stored = events.map((event) => clone(ThreadEventSchema, event));
      for (const event of stored) delete event.head;
      return threads.append(key, tail, stored, signal);
    },
  });
}

/** Returns the last batch of a thread as a server that lags knows it. */
async function lastButOne(threads: ThreadLog, key: ThreadKey): Promise<EventRange<ThreadEvent>> {
  const { events, batchTails } = await threads.read(key, emptyTail, never);
  const [before, last] = [batchTails.at(-3) ?? emptyTail, batchTails.at(-2)];
  if (last === undefined) return { events: [], tail: emptyTail, batchTails: [] };
  const batch = events.slice(before.sequence, last.sequence);
  return { events: batch, tail: last, batchTails: [last] };
}

/** Waits until it is this actor's turn. */
function turn(actor: Actor, act: Act): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(actor, { go: resolve, next: act, state: "waits" } satisfies Partial<Actor>);
  return promise;
}

const conflict = " conflict";

function learn(actor: Actor, isThread: boolean, news: string): void {
  // After a conflict it still remembers what it wanted to write.
  const forgets = actor.forgets && isThread && !actor.learned.endsWith(conflict);
  actor.learned = forgets ? news : `${actor.learned} ${news}`;
}

function inShort({
  event,
}: {
  readonly event: { readonly case: string | undefined; readonly value?: object | undefined };
}): string {
  const { value } = event;
  return `${event.case}(${value !== undefined && "runId" in value ? String(value.runId) : ""})`;
}
