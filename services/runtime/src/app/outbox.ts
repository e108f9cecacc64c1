import type { Fact, Scope } from "../domain/fact.ts";
import { spoken } from "../domain/fact.ts";

/** A fact, and the effect that it came of. */
export interface Pending {
  readonly effectId: string;
  readonly fact: Fact;
}

/**
 * Facts that wait for their append. What streams in while an append is under way leaves with the next one, adjacent text
 * as one event: load makes the chunks larger, never the queue longer than the text itself.
 */
export class Outbox {
  #pending: Pending[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(effectId: string, facts: readonly Fact[]): void {
    for (const fact of facts) {
      const last = this.#pending.at(-1);
      const merged = last?.effectId === effectId ? merge(last.fact, fact) : undefined;
      if (merged === undefined) this.#pending.push({ effectId, fact });
      else this.#pending[this.#pending.length - 1] = { effectId, fact: merged };
    }
  }

  /** Takes out what one append can hold, oldest first; at least one fact. The rest leaves with the next. */
  take(): readonly Pending[] {
    let room = mostBytes;
    const fitting = this.#pending.findIndex(({ fact }) => (room -= sizeOf(fact)) < 0);
    const count = fitting === -1 ? this.#pending.length : Math.max(1, fitting);
    return this.#pending.splice(0, count);
  }

  /** Puts what was taken, and did not come to be appended, back before everything else. */
  putBack(taken: readonly Pending[]): void {
    this.#pending = [...taken, ...this.#pending];
  }

  /** Forgets the facts of effects that are not wanted any more. */
  keepOnly(effectIds: ReadonlySet<string>): void {
    this.#pending = this.#pending.filter(({ effectId }) => effectIds.has(effectId));
  }
}

function merge({ scope, event: a }: Fact, { event: b }: Fact): Fact | undefined {
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
  return text.length > mostCharacters ? undefined : spoken(scope, kind, text);
}

/** Keeps an event far below the largest message of the bus. */
const mostCharacters = 65_536;
/** Half of the largest message of the bus: what follows from the facts goes into the same one. */
const mostBytes = 512 * 1024;

/** About how many bytes a fact takes; those that are small by nature count as one size. */
function sizeOf({ event }: Fact): number {
  const small = 512;
  switch (event.case) {
    case "text":
    case "reasoning":
      return small + Buffer.byteLength(event.value.text ?? "");
    case "toolResult": {
      const { content = "", structured = {} } = event.value.result ?? {};
      return small + 2 * Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(structured));
    }
    case "modelTurn":
      return small + (event.value.messageJson?.length ?? 0);
    case "toolCall": {
      const { arguments: args = {}, rawArguments = "" } = event.value;
      return small + Buffer.byteLength(rawArguments) + Buffer.byteLength(JSON.stringify(args));
    }
    default:
      return small;
  }
}
