import type { Fact, Scope } from "../domain/state/fact.ts";
import { bytesOf, textPart } from "../domain/state/fact.ts";

/** Facts that an effect yielded together, to be appended in one batch. */
export interface PendingFacts {
  readonly effectId: string;
  readonly facts: readonly Fact[];
  /** Called when the log has them. Default: nobody waits for that. */
  readonly appended?: (() => void) | undefined;
}

/** Keeps an event far below the largest message of the bus. */
const maxTextCharacters = 65_536;
/** Half of the largest message of the bus, because the facts that follow go into the same message. */
const maxBatchBytes = 512 * 1024;
/** An estimate of the size of a text event without its text. */
const textEventBytes = 512;

/**
 * The facts that wait for an append. Facts that arrive while an append is in flight go into the next one, adjacent text as
 * one event: under load, chunks become larger, and the queue never longer than the text itself.
 */
export class Outbox {
  #pending: PendingFacts[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(effectId: string, facts: readonly Fact[], appended?: () => void): void {
    const last = this.#pending.at(-1);
    const merged = last?.effectId === effectId ? mergeText(last.facts, facts) : undefined;
    if (merged === undefined) this.#pending.push({ effectId, facts, appended });
    else this.#pending[this.#pending.length - 1] = { effectId, facts: [merged] };
  }

  /**
   * Takes what fits into one append, oldest first, and at least one addition. Never separates facts that were added
   * together: the calls of a turn without the turn would never get results.
   */
  take(): readonly PendingFacts[] {
    if (this.#pending.length <= 1) return this.#pending.splice(0);
    let room = maxBatchBytes;
    const fitting = this.#pending.findIndex(({ facts }) => (room -= sizeOf(facts)) < 0);
    const count = fitting === -1 ? this.#pending.length : Math.max(1, fitting);
    return this.#pending.splice(0, count);
  }

  /** Puts facts whose append was lost back before all others. */
  putBack(taken: readonly PendingFacts[]): void {
    this.#pending = [...taken, ...this.#pending];
  }

  /** Discards the facts of all other effects. */
  keepOnly(effectIds: ReadonlySet<string>): void {
    this.#pending = this.#pending.filter(({ effectId }) => effectIds.has(effectId));
  }
}

function mergeText(before: readonly Fact[], after: readonly Fact[]): Fact | undefined {
  const [first, next] = [before[0], after[0]];
  if (before.length !== 1 || after.length !== 1 || !first || !next) return undefined;
  const { scope, event: a } = first;
  const { event: b } = next;
  if (a.case === "text" && b.case === "text") {
    return joined(scope, a.case, a.value.text, b.value.text);
  }
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
  return text.length > maxTextCharacters ? undefined : textPart(scope, kind, text);
}

function sizeOf(facts: readonly Fact[]): number {
  return facts.reduce((sum, fact) => {
    const { event } = fact;
    // Most facts are text, whose size is known without encoding the event.
    const isText = event.case === "text" || event.case === "reasoning";
    return (
      sum + (isText ? textEventBytes + Buffer.byteLength(event.value.text ?? "") : bytesOf(fact))
    );
  }, 0);
}
