import type { Context, Span } from "@opentelemetry/api";
import { context, trace } from "@opentelemetry/api";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextOf, isTraced, iterateIn, startSpan } from "@reeve/platform/telemetry/spans";
import type { Fact } from "../domain/state/fact.ts";
import { plannerId } from "../domain/state/frame.ts";
import type { Effect } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { liveFrames } from "../domain/state/run-state.ts";
import { agentAttributes, agentNameOf } from "./in-run-span.ts";

/**
 * The spans of a run's planner and subtasks, each from its first effect in this worker until its frame ends, as parents of
 * the spans of their model and tool calls. Create it inside the span of the run; without a traced span it does nothing.
 */
export class FrameSpans implements Disposable {
  readonly #root: Context = context.active();
  readonly #isTraced = isTraced(trace.getActiveSpan());
  readonly #open = new Map<string, { readonly span: Span; readonly context: Context }>();

  /** Performs an effect in the span of its frame, and returns its facts. */
  within(
    state: RunState,
    effect: Effect,
    perform: () => AsyncIterable<readonly Fact[]>,
  ): AsyncIterable<readonly Fact[]> {
    if (!this.#isTraced) return perform();
    const within = this.#contextOf(state, effect.frame);
    return iterateIn(within, context.with(within, perform));
  }

  /** Ends the spans of frames that have ended. */
  observe(state: RunState): void {
    if (this.#open.size === 0) return;
    const live = new Set(liveFrames(state).map(({ id }) => id));
    for (const [id, { span }] of this.#open) {
      if (live.has(id)) continue;
      span.end();
      this.#open.delete(id);
    }
  }

  [Symbol.dispose](): void {
    for (const { span } of this.#open.values()) span.end();
    this.#open.clear();
  }

  #contextOf(state: RunState, id: string): Context {
    const known = this.#open.get(id);
    if (known !== undefined) return known.context;
    const frame = state.frames.get(id);
    if (frame === undefined || (frame.subtask === undefined && id !== plannerId)) return this.#root;
    const parent =
      frame.subtask === undefined ? this.#root : this.#contextOf(state, frame.subtask.parent);
    const operation = id === plannerId ? operations.plan : operations.invokeAgent;
    const described = {
      ...agentAttributes(state),
      ...(frame.delegate && { [attributes.agentName]: frame.delegate.agentId }),
      [attributes.operation]: operation,
      ...(frame.subtask && { [attributes.subtaskId]: id, [attributes.depth]: frame.depth }),
    };
    const agent = frame.delegate?.agentId ?? agentNameOf(state);
    const span = startSpan(`${operation} ${agent}`, { attributes: described }, parent);
    const opened = { span, context: contextOf(span, parent) };
    this.#open.set(id, opened);
    return opened.context;
  }
}
