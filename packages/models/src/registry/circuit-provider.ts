import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Clock } from "@reeve/platform/async/clock";
import { Backoff } from "@reeve/platform/async/retry/backoff";

/** Unanswered calls in a row, after which a provider is left alone. */
const maxUnanswered = 5;
/** How long it is left alone before one call tries it again. The time doubles while it does not answer. */
const pause = { firstDelayMs: 5_000, maxDelayMs: 30_000, jitter: 0.2 };
/** When the other calls ask again while one call tries the provider. */
const askAgainMs = 2_000;
/** How long one call without an answer keeps the others from trying the provider: it may hang, or think. */
const maxTrialMs = 10_000;

/**
 * Wraps a provider so that the runs of a process do not hammer it while it does not answer. After several unanswered calls
 * in a row, calls fail at once with the time at which they may be repeated. Then one call is let through, and another one
 * every ten seconds that it hangs, until one is answered. A refusal is an answer: the provider is there.
 */
export function circuitProvider(
  provider: ModelProvider,
  clock: Pick<Clock, "now">,
  random?: () => number,
): ModelProvider {
  const circuit = new Circuit(provider.descriptor.name, clock, random);
  const { media } = provider;
  return {
    descriptor: provider.descriptor,
    format: provider.format,
    countTokens: provider.countTokens,
    media: media && {
      generate: (request, signal) =>
        guarded(circuit, () => media.generate(request, signal), signal),
    },
    stream: (request, signal) => guarded(circuit, () => provider.stream(request, signal), signal),
  };
}

/** Makes a call unless the provider is left alone. */
async function* guarded<Part>(
  circuit: Circuit,
  start: () => AsyncIterable<Part>,
  signal: AbortSignal,
): AsyncIterable<Part> {
  using call = circuit.enter();
  try {
    for await (const part of start()) {
      call.answered();
      yield part;
    }
  } catch (error) {
    if (!signal.aborted && error instanceof ModelFailure) {
      if (error.reason === "unavailable" && !error.answerBegan) call.unanswered();
      else call.answered();
    }
    throw error;
  }
}

/** A call that was let through. Disposing it without an outcome lets another call try the provider. */
interface EnteredCall extends Disposable {
  answered(): void;
  /** Has no effect after `answered`: an answer that breaks off does not show that the provider is gone. */
  unanswered(): void;
}

class Circuit {
  readonly #name: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #pauses: Backoff;
  #unanswered = 0;
  /** Until when no call is let through, except for trials after it. Undefined: the circuit is closed, and all calls are. */
  #openUntilMs: number | undefined;
  /** The newest call that tries the provider. */
  #trial: { readonly untilMs: number } | undefined;

  constructor(name: string, clock: Pick<Clock, "now">, random?: () => number) {
    this.#name = name;
    this.#clock = clock;
    this.#pauses = new Backoff(pause, random);
  }

  /** Lets a call through. Throws a ModelFailure with the time to wait if the provider is left alone. */
  enter(): EnteredCall {
    const trial = this.#openUntilMs === undefined ? undefined : this.#startTrial(this.#openUntilMs);
    let isDecided = false;
    const decide = (outcome: () => void) => {
      if (isDecided) return;
      isDecided = true;
      outcome();
    };
    return {
      answered: () => decide(() => this.#close()),
      unanswered: () => decide(() => this.#count(this.#endTrial(trial))),
      [Symbol.dispose]: () => decide(() => void this.#endTrial(trial)),
    };
  }

  #startTrial(openUntilMs: number): { readonly untilMs: number } {
    const nowMs = this.#clock.now();
    if (nowMs < openUntilMs) throw this.#leftAlone(openUntilMs - nowMs);
    const restMs = (this.#trial?.untilMs ?? nowMs) - nowMs;
    if (restMs > 0) throw this.#leftAlone(Math.min(restMs, askAgainMs));
    this.#trial = { untilMs: nowMs + maxTrialMs };
    return this.#trial;
  }

  /** Returns whether the call is the newest one that tries the provider, which it stops being. */
  #endTrial(trial: { readonly untilMs: number } | undefined): boolean {
    if (trial === undefined || trial !== this.#trial) return false;
    this.#trial = undefined;
    return true;
  }

  #close(): void {
    this.#unanswered = 0;
    this.#openUntilMs = undefined;
    this.#trial = undefined;
    this.#pauses.reset();
  }

  #count(isNewestTrial: boolean): void {
    this.#unanswered += 1;
    // Calls that were let through before the pause, or before a newer trial, do not prolong it.
    const isPaused = this.#openUntilMs !== undefined && !isNewestTrial;
    if (isPaused || this.#unanswered < maxUnanswered) return;
    this.#openUntilMs = this.#clock.now() + this.#pauses.next();
  }

  #leftAlone(retryAfterMs: number): ModelFailure {
    const message = `${this.#name} left ${this.#unanswered} calls of this worker in a row without an answer; it is tried again soon`;
    return new ModelFailure("paused", message, { retryAfterMs });
  }
}
