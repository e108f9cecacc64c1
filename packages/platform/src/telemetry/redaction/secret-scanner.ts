import { minSecretLength } from "./secret-forms.ts";

const factor = 31;
const slots = 2 ** 20;

/** A part of a text, from its first character to the one after its last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds any of many patterns, of eight characters or more, in one pass over a text: its time depends on the text, not on how many
 * patterns there are.
 */
export class SecretScanner {
  readonly #patterns: readonly string[];
  readonly #byStart = new Map<number, string[]>();
  /** Whether a pattern may begin with eight characters of this hash. */
  readonly #mayStart = new Uint8Array(slots);
  /** Length of the longest pattern. 0: there is none. */
  readonly maxLength: number;
  readonly #lastFactor: number;

  constructor(patterns: Iterable<string>) {
    this.#patterns = [...new Set(patterns)].toSorted();
    this.maxLength = this.#patterns.reduce((max, { length }) => Math.max(max, length), 0);
    let lastFactor = 1;
    for (let power = 1; power < minSecretLength; power++)
      lastFactor = Math.imul(lastFactor, factor);
    this.#lastFactor = lastFactor;
    for (const pattern of this.#patterns.toSorted((a, b) => b.length - a.length)) {
      const hash = hashAt(pattern, 0);
      this.#mayStart[slotOf(hash)] = 1;
      const same = this.#byStart.get(hash);
      if (same === undefined) this.#byStart.set(hash, [pattern]);
      else same.push(pattern);
    }
  }

  /** Returns the parts of a text that patterns cover, in order. Parts that touch are one. */
  find(text: string): readonly Range[] {
    const found: Range[] = [];
    const last = text.length - minSecretLength;
    if (this.#patterns.length === 0 || last < 0) return found;
    let hash = hashAt(text, 0);
    for (let at = 0; ; at++) {
      if (this.#mayStart[slotOf(hash)] === 1) {
        const pattern = this.#byStart.get(hash)?.find((each) => text.startsWith(each, at));
        if (pattern !== undefined) cover(found, at, at + pattern.length);
      }
      if (at === last) return found;
      hash = Math.imul(hash - Math.imul(text.charCodeAt(at), this.#lastFactor), factor);
      hash = (hash + text.charCodeAt(at + minSecretLength)) | 0;
    }
  }

  /** Returns how many characters at the end of a text may be the beginning of a pattern. */
  openEnd(text: string): number {
    const longest = Math.min(this.maxLength - 1, text.length);
    for (let length = longest; length > 0; length--) {
      if (this.#isBeginning(text.slice(-length))) return length;
    }
    return 0;
  }

  #isBeginning(text: string): boolean {
    let low = 0;
    let high = this.#patterns.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#patterns[middle] ?? "") < text) low = middle + 1;
      else high = middle;
    }
    return this.#patterns[low]?.startsWith(text) === true;
  }
}

function cover(found: Range[], from: number, to: number): void {
  const before = found.at(-1);
  if (before === undefined || from > before.to) found.push({ from, to });
  else found.splice(-1, 1, { from: before.from, to: Math.max(before.to, to) });
}

function hashAt(text: string, from: number): number {
  let hash = 0;
  for (let at = from; at < from + minSecretLength; at++) {
    hash = (Math.imul(hash, factor) + text.charCodeAt(at)) | 0;
  }
  return hash;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 20)) & (slots - 1);
}
