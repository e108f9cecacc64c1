import type { Range, SecretScanner } from "./secret-scanner.ts";

/** From this many characters on, secrets that overlap each other are passed on, redacted, before they have ended. */
const maxHeld = 64 * 1024;

/**
 * Redacts a stream for a reader who chooses parts of its content. Keeps back as many characters as the longest secret needs, whatever
 * they are: a stream that kept back only what begins a secret would show the reader which guesses begin one.
 */
export class SteadyRedactedStream {
  readonly #scanner: SecretScanner;
  readonly #without: (text: string, ranges: readonly Range[]) => string;
  #rest = "";

  /** `without` replaces parts of a text. */
  constructor(scanner: SecretScanner, without: (text: string, ranges: readonly Range[]) => string) {
    this.#scanner = scanner;
    this.#without = without;
  }

  /** Returns what can be passed on after another chunk. */
  push(chunk: string): string {
    const text = this.#rest + chunk;
    const end = Math.max(0, text.length - Math.max(0, this.#scanner.maxLength - 1));
    const ranges = this.#scanner.find(text);
    const cut = ranges.find(({ from, to }) => from < end && end < to);
    const border = cut === undefined ? end : text.length - cut.from > maxHeld ? cut.to : cut.from;
    this.#rest = text.slice(border);
    return this.#without(
      text.slice(0, border),
      ranges.filter(({ to }) => to <= border),
    );
  }

  /** Returns the rest at the end of the stream. */
  end(): string {
    const text = this.#rest;
    this.#rest = "";
    return this.#without(text, this.#scanner.find(text));
  }
}
