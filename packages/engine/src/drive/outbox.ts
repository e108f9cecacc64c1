import type { Fact, Scope } from "../domain/state/fact.ts";
import { bytesOf, textPart } from "../domain/state/fact.ts";

/** Facts that are told together, in one append, and the effect that they came of. */
export interface PendingFacts {
  readonly effectId: string;
  readonly facts: readonly Fact[];
}

/**
 * Facts that wait for their append. What streams in while an append is under way leaves with the next one, adjacent text
 * as one event: load makes the chunks larger, never the queue longer than the text itself.
 */
export class Outbox {
  #pending: PendingFacts[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(effectId: string, facts: readonly Fact[]): void {
    const last = this.#pending.at(-1);
    const merged = last?.effectId === effectId ? merge(last.facts, facts) : undefined;
    if (merged === undefined) this.#pending.push({ effectId, facts });
    else this.#pending[this.#pending.length - 1] = { effectId, facts: [merged] };
  }

  /**
   * Takes out what one append can hold, oldest first, and never parts facts that were added together: the calls of a turn
   * without the turn would never get results. At least one addition; the rest leaves with the next append.
   */
  take(): readonly PendingFacts[] {
    let room = maxBytes;
    const fitting = this.#pending.findIndex(({ facts }) => (room -= sizeOf(facts)) < 0);
    const count = fitting === -1 ? this.#pending.length : Math.max(1, fitting);
    return this.#pending.splice(0, count);
  }

  /** Puts what was taken, and did not come to be appended, back before everything else. */
  putBack(taken: readonly PendingFacts[]): void {
    this.#pending = [...taken, ...this.#pending];
  }

  /** Forgets the facts of effects that are not wanted any more. */
  keepOnly(effectIds: ReadonlySet<string>): void {
    this.#pending = this.#pending.filter(({ effectId }) => effectIds.has(effectId));
  }
}

function merge(before: readonly Fact[], after: readonly Fact[]): Fact | undefined {
  const [first, next] = [before[0], after[0]];
  if (before.length !== 1 || after.length !== 1 || !first || !next) return undefined;
  const { scope, event: a } = first;
  const { event: b } = next;
  if (a.case === "text" && b.case === "text")
    return joined(scope, a.case, a.value.text, b.value.text);
  if (a.case === "reasoning" && b.case === "reasoning") {
    return joined(scope, a.case, a.value.text, b.value.text);
  }
  return undefined;
}

function joined(
  scope: Scope,
  kind: "text" | "reasoning",
  first = "",
  second = "",
): Fact | undefined {
  const text = first + second;
  return text.length > maxCharacters ? undefined : textPart(scope, kind, text);
}

/** Keeps an event far below the largest message of the bus. */
const maxCharacters = 65_536;
/** Half of the largest message of the bus: what follows from the facts goes into the same one. */
const maxBytes = 512 * 1024;

/** What a fact takes beside its text. */
const small = 512;

function sizeOf(facts: readonly Fact[]): number {
  return facts.reduce((sum, fact) => {
    const { event } = fact;
    // Most of what leaves is text, whose size needs no look at its message.
    const isText = event.case === "text" || event.case === "reasoning";
    return sum + (isText ? small + Buffer.byteLength(event.value.text ?? "") : bytesOf(fact));
  }, 0);
}
