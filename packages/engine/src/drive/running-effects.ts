import type { Fact } from "../domain/state/fact.ts";
import type { Effect } from "../domain/next-effects.ts";

/** What became of an effect: facts on the way, its end, or a failure that no fact tells. */
export type EffectMessage =
  | { readonly kind: "facts"; readonly effectId: string; readonly facts: readonly Fact[] }
  | { readonly kind: "ended"; readonly effectId: string }
  | { readonly kind: "broke"; readonly effectId: string; readonly error: unknown };

/** The effects that are under way for one run. */
export class RunningEffects implements AsyncDisposable {
  readonly #running = new Map<
    string,
    { kind: Effect["kind"]; abort: AbortController; done: Promise<void> }
  >();
  /** Effects that gave all their facts: not to be started again before the facts are folded. */
  readonly #ended = new Set<string>();
  readonly #start: (effect: Effect, signal: AbortSignal) => AsyncIterable<readonly Fact[]>;
  readonly #tell: (news: EffectMessage) => void;

  constructor(
    start: (effect: Effect, signal: AbortSignal) => AsyncIterable<readonly Fact[]>,
    tell: (news: EffectMessage) => void,
  ) {
    this.#start = start;
    this.#tell = tell;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Whether a model is being listened to, whose answer would be lost. */
  get isCallingModel(): boolean {
    return [...this.#running.values()].some(({ kind }) => kind === "call_model");
  }

  /** Starts the effects that are wanted and not under way, and stops those that are not wanted any more. */
  reconcile(wanted: readonly Effect[]): void {
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, { abort }] of this.#running) if (!ids.has(id)) abort.abort(notWanted);
    for (const id of this.#ended) if (!ids.has(id)) this.#ended.delete(id);
    for (const effect of wanted) {
      if (this.#running.has(effect.id) || this.#ended.has(effect.id)) continue;
      const abort = new AbortController();
      const done = this.#run(effect, abort.signal);
      this.#running.set(effect.id, { kind: effect.kind, abort, done });
    }
  }

  /** Stops what is not wanted any more, and starts nothing but the models whose calls count as made. */
  drain(wanted: readonly Effect[]): void {
    this.reconcile(wanted.filter(({ id, kind }) => kind === "call_model" || this.#running.has(id)));
  }

  async #run(effect: Effect, signal: AbortSignal): Promise<void> {
    const effectId = effect.id;
    try {
      for await (const facts of this.#start(effect, signal)) {
        if (signal.aborted) break;
        this.#tell({ kind: "facts", effectId, facts });
      }
      this.#finish(effectId);
    } catch (error) {
      this.#finish(effectId);
      if (!signal.aborted) this.#tell({ kind: "broke", effectId, error });
    }
  }

  #finish(effectId: string): void {
    this.#running.delete(effectId);
    this.#ended.add(effectId);
    this.#tell({ kind: "ended", effectId });
  }

  /** Stops everything, and waits until it has stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort(notWanted);
    await Promise.allSettled(running.map(({ done }) => done));
  }
}

const notWanted = new DOMException("the run does not want this any more", "AbortError");
