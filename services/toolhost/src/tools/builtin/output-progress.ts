import { setTimeout as wait } from "node:timers/promises";
import { LastLines } from "./last-lines.ts";
import type { ExecEvent, Sandbox } from "@reeve/sandbox/port";
import type { Progress } from "@reeve/calls/ports/tool";

/** Waits between two reports of a command that has run for `elapsedMs`; rejects when `signal` aborts. */
export type Pause = (elapsedMs: number, signal: AbortSignal) => Promise<void>;

const shortestPauseMs = 250;
/** A long command reports less and less often, so that it never says more than some hundred times. */
const pausesPerLife = 100;

/**
 * A sandbox whose commands tell, while they run, how much they have written and what last. However much that is, there is
 * one report in a while; a command that is over within the first while tells nothing.
 */
export function reporting(
  sandbox: Sandbox,
  report: (progress: Progress) => void,
  pause: Pause = growingPause,
): Sandbox {
  return {
    ...sandbox,
    exec: (command, signal) => watched(sandbox.exec(command, signal), report, pause),
  };
}

async function* watched(
  events: AsyncIterable<ExecEvent>,
  report: (progress: Progress) => void,
  pause: Pause,
): AsyncIterable<ExecEvent> {
  using output = new Output(report, pause);
  for await (const event of events) {
    if (event.kind === "out" && event.stream !== "result") output.add(event.bytes);
    yield event;
  }
}

class Output implements Disposable {
  readonly #report: (progress: Progress) => void;
  readonly #pause: Pause;
  readonly #lines = new LastLines();
  readonly #end = new AbortController();
  readonly #began = performance.now();
  #isTelling = false;
  #isStale = false;

  constructor(report: (progress: Progress) => void, pause: Pause) {
    this.#report = report;
    this.#pause = pause;
  }

  add(bytes: Uint8Array): void {
    this.#lines.add(bytes);
    this.#isStale = true;
    if (!this.#isTelling) void this.#tell(this.#end.signal);
  }

  [Symbol.dispose](): void {
    this.#end.abort(new DOMException("the command is over", "AbortError"));
  }

  async #tell(signal: AbortSignal): Promise<void> {
    this.#isTelling = true;
    try {
      while (this.#isStale) {
        await this.#pause(performance.now() - this.#began, signal);
        if (signal.aborted) return;
        this.#isStale = false;
        const message = this.#lines.text() || `${this.#lines.total} bytes`;
        this.#report({ progress: this.#lines.total, message });
      }
    } catch {
      // The command is over; and progress is worth no failure.
    } finally {
      this.#isTelling = false;
    }
  }
}

async function growingPause(elapsedMs: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.max(shortestPauseMs, elapsedMs / pausesPerLife);
  await wait(pauseMs, undefined, { signal, ref: false });
}
