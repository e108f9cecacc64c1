import type { Random } from "./random.ts";
import { randomFrom } from "./random.ts";

/**
 * The effect of a call on the world. `code` runs in a sandbox and appends lines to a file; `write` writes a file there and is
 * idempotent. The others call a counter outside the sandbox: `charge` counts, `note` counts and is idempotent, `pay` counts
 * and needs approval.
 */
export type EffectKind = "code" | "write" | "charge" | "note" | "pay";

export interface PlannedEffect {
  /** Unique within a run. */
  readonly tag: string;
  readonly kind: EffectKind;
  /** Its duration, half before and half after the effect. */
  readonly lastsMs: number;
  /** For `pay`: the person's decision and its delay. */
  readonly approved: boolean;
  readonly decidedAfterMs: number;
}

/** One turn of the model: its text and its parallel calls. With `subtask`, a subtask executes the turn. */
export interface PlannedTurn {
  readonly text: string;
  readonly effects: readonly PlannedEffect[];
  readonly isSubtask: boolean;
}

/** The plan of a run: what it does, and what its client does. */
export interface RunPlan {
  readonly index: number;
  /** The input of the run, by which the played model finds the plan. */
  readonly input: string;
  readonly turns: readonly PlannedTurn[];
  readonly answer: string;
  /** The pause between two pieces of streamed text. */
  readonly paceMs: number;
  /** When the client cancels the run, in milliseconds after its start. */
  readonly cancelAfterMs: number | undefined;
  /** The run's thread. */
  readonly thread: string | undefined;
  /** The probability that the client leaves after a message and reconnects to any gateway. */
  readonly leaveProbability: number;
}

const kinds: readonly EffectKind[] = [
  ...(["code", "code", "code", "write"] as const),
  ...(["charge", "charge", "note", "pay"] as const),
];

/** The number of consecutive runs that share a thread. */
const runsOfThread = 3;

/** Returns the plan of a run, which depends only on the seed and the run's index. */
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
    leaveProbability: random.chance(0.3) ? 0.05 : 0,
  };
}

/** Returns all effects of a plan. */
export function effectsOf({ turns }: RunPlan): readonly PlannedEffect[] {
  return turns.flatMap(({ effects }) => effects);
}

function inputOf(index: number): string {
  return `Carry out plan ${index}.`;
}

/** Returns the instructions for a subtask that executes one turn of a plan. */
export function instructionsOf(index: number, turn: number): string {
  return `Carry out turn ${turn} of plan ${index}.`;
}

function words(random: Random, maxWords: number): string {
  const length = random.whole(3, maxWords);
  return Array.from({ length }, () => random.pick(vocabulary)).join(" ");
}

const vocabulary = ["the", "work", "goes", "on", "as", "planned", "and", "nothing", "is", "lost"];
