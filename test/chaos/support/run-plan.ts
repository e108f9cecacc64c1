import type { Random } from "./random.ts";
import { randomFrom } from "./random.ts";

/**
 * What a call does to the world. `code` runs in a sandbox and leaves lines in a file; `write` writes a file there, and may
 * be done again. The others reach a counter outside of the sandbox: `charge` counts, `note` counts and may be done again,
 * `pay` counts and needs a person.
 */
export type EffectKind = "code" | "write" | "charge" | "note" | "pay";

export interface PlannedEffect {
  /** Unique within a run. */
  readonly tag: string;
  readonly kind: EffectKind;
  /** How long it takes, half of it before and half of it after the effect. */
  readonly lastsMs: number;
  /** Of `pay`: what the person says, and after how long. */
  readonly approved: boolean;
  readonly decidedAfterMs: number;
}

/** One turn of the model: what it says and what it calls, at once; with `subtask` that is the work of a subtask. */
export interface PlannedTurn {
  readonly text: string;
  readonly effects: readonly PlannedEffect[];
  readonly isSubtask: boolean;
}

/** What a run is going to do, and what its client does to it. */
export interface RunPlan {
  readonly index: number;
  /** What the run is asked; the played model finds its plan by it. */
  readonly input: string;
  readonly turns: readonly PlannedTurn[];
  readonly answer: string;
  /** The pause between two pieces of text that the model streams. */
  readonly paceMs: number;
  /** When its client cancels it, counted from its start. */
  readonly cancelAfterMs: number | undefined;
  /** The thread whose turn it is. */
  readonly thread: string | undefined;
  /** How likely the client goes away after a message, to come back at any gateway. */
  readonly restlessness: number;
}

const kinds: readonly EffectKind[] = [
  ...(["code", "code", "code", "write"] as const),
  ...(["charge", "charge", "note", "pay"] as const),
];

/** How many consecutive runs share a thread, where they have one. */
const runsOfThread = 3;

/** The plan of a run follows from the seed and its place alone. */
export function planOf(seed: number, index: number): RunPlan {
  const random = randomFrom(seed, `run ${index}`);
  let effects = 0;
  const effect = (allowed = kinds): PlannedEffect => ({
    tag: `e${effects++}`,
    kind: random.pick(allowed),
    lastsMs: Math.round(random.between(0, 600)),
    approved: random.chance(0.75),
    decidedAfterMs: Math.round(random.between(0, 1_500)),
  });
  const turns = Array.from({ length: random.whole(2, 4) }, (): PlannedTurn => {
    const isSubtask = random.chance(0.2);
    const length = random.chance(0.4) ? random.whole(2, 4) : 1;
    return { text: words(random, 12), isSubtask, effects: Array.from({ length }, () => effect()) };
  });
  const group = Math.floor(index / runsOfThread);
  const hasThread = randomFrom(seed, `thread ${group}`).chance(0.3);
  return {
    index,
    input: inputOf(index),
    turns,
    answer: words(random, 40),
    paceMs: random.whole(2, 25),
    cancelAfterMs: random.chance(0.15) ? Math.round(random.between(50, 5_000)) : undefined,
    thread: hasThread ? `seed-${seed}-${group}` : undefined,
    restlessness: random.chance(0.3) ? 0.05 : 0,
  };
}

/** All effects of a plan. */
export function effectsOf({ turns }: RunPlan): readonly PlannedEffect[] {
  return turns.flatMap(({ effects }) => effects);
}

function inputOf(index: number): string {
  return `Carry out plan ${index}.`;
}

/** The instructions of the subtask that one turn of a plan is. */
export function instructionsOf(index: number, turn: number): string {
  return `Carry out turn ${turn} of plan ${index}.`;
}

function words(random: Random, most: number): string {
  const length = random.whole(3, most);
  return Array.from({ length }, () => random.pick(vocabulary)).join(" ");
}

const vocabulary = ["the", "work", "goes", "on", "as", "planned", "and", "nothing", "is", "lost"];
