import type { RunEvent } from "@reeve/contracts/run";
import type { Awaited } from "./awaited.ts";
import { awaitedAfter } from "./awaited.ts";
import { oneLine } from "./plain-text.ts";

/** After how many seconds without an event a person reads what the run waits for. Then once a minute. */
const firstSeconds = [10, 30];
const everySeconds = 60;

/** Tells a person who watches a run what it waits for while nothing happens. */
export class SilenceNotes implements Disposable {
  readonly #write: (line: string) => void;
  #awaited: Awaited = new Map();
  #timer: NodeJS.Timeout | undefined;

  /** `write` prints a line. */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Takes the next event of the run. */
  heard(event: RunEvent): void {
    this.#awaited = awaitedAfter(this.#awaited, event);
    clearTimeout(this.#timer);
    if (this.#awaited.size > 0) this.#schedule(0, 0);
  }

  #schedule(saidSeconds: number, count: number): void {
    const seconds = firstSeconds[count] ?? saidSeconds + everySeconds;
    this.#timer = setTimeout(
      () => {
        const names = [...new Set(this.#awaited.values())].map((name) => oneLine(name, 80));
        this.#write(`waiting for ${names.join(", ")}: nothing new for ${seconds} s`);
        this.#schedule(seconds, count + 1);
      },
      (seconds - saidSeconds) * 1_000,
    );
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
