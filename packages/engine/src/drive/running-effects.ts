import { abortable } from "@reeve/platform/async/abortable";
import type { Fact } from "../domain/state/fact.ts";
import type { Effect } from "../domain/next-effects.ts";
import { AnswerNotNeeded } from "../ports/model-provider.ts";

/** What a running effect reports: facts, its end, or an error that is not expressed as a fact. */
export type EffectMessage =
  | {
      readonly kind: "facts";
      readonly effectId: string;
      readonly facts: readonly Fact[];
      /** Called when the log has the facts. Default: nobody waits for that. */
      readonly appended?: () => void;
    }
  | { readonly kind: "ended"; readonly effectId: string }
  | { readonly kind: "failed"; readonly effectId: string; readonly error: unknown };

interface RunningEffect {
  /** With what the log has of its call by now. */
  effect: Effect;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** The effects of one run that are in progress. Disposing aborts them, and waits until they have stopped. */
export class RunningEffects implements AsyncDisposable {
  readonly #running = new Map<string, RunningEffect>();
  /** Effects that have yielded all their facts. They must not start again before these facts are folded. */
  readonly #ended = new Set<string>();
  readonly #start: (effect: Effect, signal: AbortSignal) => AsyncIterable<readonly Fact[]>;
  readonly #report: (message: EffectMessage) => void;

  constructor(
    start: (effect: Effect, signal: AbortSignal) => AsyncIterable<readonly Fact[]>,
    report: (message: EffectMessage) => void,
  ) {
    this.#start = start;
    this.#report = report;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /**
   * Whether a model or a plugin is answering, whose answer an abort would lose. A timer that is not due at `nowMs` is none, nor is a
   * generation that waits for memory.
   */
  awaitsAnswers(nowMs: number): boolean {
    return [...this.#running.values()].some(({ effect }) => isAnswering(effect, nowMs));
  }

  /** Starts the wanted effects that are not in progress, and aborts those in progress that are not wanted. */
  reconcile(wanted: readonly Effect[]): void {
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, { abort }] of this.#running)
      if (!ids.has(id)) abort.abort(new AnswerNotNeeded());
    for (const id of this.#ended) if (!ids.has(id)) this.#ended.delete(id);
    for (const effect of wanted) {
      const running = this.#running.get(effect.id);
      if (running !== undefined) running.effect = effect;
      if (running !== undefined || this.#ended.has(effect.id)) continue;
      const abort = new AbortController();
      const done = this.#run(effect, abort.signal);
      this.#running.set(effect.id, { effect, abort, done });
    }
  }

  /** Returns `wanted` without the effects of a kind that are not in progress. */
  withoutNew(kind: Effect["kind"], wanted: readonly Effect[]): readonly Effect[] {
    const isNew = (effect: Effect) => effect.kind === kind && !this.#running.has(effect.id);
    return wanted.some(isNew) ? wanted.filter((effect) => !isNew(effect)) : wanted;
  }

  /** Like `reconcile`, but starts only calls of models and of plugins' tools, and generations: the log says that they have started. */
  drain(wanted: readonly Effect[]): void {
    const isStarted = ({ id, kind }: Effect) => startedKinds.has(kind) || this.#running.has(id);
    this.reconcile(wanted.filter(isStarted));
  }

  async #run(effect: Effect, signal: AbortSignal): Promise<void> {
    const effectId = effect.id;
    try {
      for await (const facts of this.#start(effect, signal)) {
        if (signal.aborted) break;
        if (!facts.some(precedesRequest)) {
          this.#report({ kind: "facts", effectId, facts });
          continue;
        }
        const { promise, resolve: appended } = Promise.withResolvers<void>();
        this.#report({ kind: "facts", effectId, facts, appended });
        await abortable(promise, signal);
      }
      this.#finish(effectId);
    } catch (error) {
      this.#finish(effectId);
      if (!signal.aborted) this.#report({ kind: "failed", effectId, error });
    }
  }

  #finish(effectId: string): void {
    this.#running.delete(effectId);
    this.#ended.add(effectId);
    this.#report({ kind: "ended", effectId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort(released);
    await Promise.allSettled(running.map(({ done }) => done));
  }
}

/** The kinds of effects whose start the log has. */
const startedKinds: ReadonlySet<Effect["kind"]> = new Set([
  "call_model",
  "call_plugin_tool",
  "generate_media",
]);

/** Whether an effect requests something that may be billed once the log has a fact. */
function precedesRequest({ event }: Fact): boolean {
  return event.case === "mediaCallStarted" && event.value.isWaiting !== true;
}

function isAnswering(effect: Effect, nowMs: number): boolean {
  if (effect.kind === "generate_media" && effect.call.media?.isWaiting) return false;
  if (effect.kind === "run_hook") return (effect.due.action?.dueAtMs ?? nowMs) <= nowMs;
  return effect.kind === "review_call" || startedKinds.has(effect.kind);
}

const released = new DOMException("this worker executes the run no longer", "AbortError");
