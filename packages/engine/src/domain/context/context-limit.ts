import { limitsOf } from "../budget/limits.ts";
import type { Frame } from "../state/frame.ts";
import { modelOf } from "../model/model-of.ts";
import { promptTokens } from "../model/prompt-tokens.ts";
import type { RunState } from "../state/run-state.ts";

/** How large the conversation of a frame may become, in tokens. */
export interface ContextLimit {
  /** The window of the model, or what stands for it when that is not known. */
  readonly window: number;
  /** Above this the conversation is made smaller before the next call of the model. */
  readonly compactAt: number;
  /** Whether older messages are summarized, or else left out. */
  readonly summarizes: boolean;
  /** Whether a conversation that cannot be made small enough ends the run. */
  readonly isHard: boolean;
}

/** The part of the window at which a context policy that names no number begins to summarize. */
const defaultPart = 0.8;

export function contextLimit(state: RunState, frame: Frame): ContextLimit {
  const spec = state.head.created?.spec;
  const { historyTokens } = limitsOf(state);
  const known = modelOf(state, frame)?.contextWindow ?? 0;
  const window = known === 0 ? historyTokens : known;
  const percent = percentOf(spec?.budgetAwareness);
  const policy = spec?.contextPolicy;
  const bounds = [
    historyTokens,
    ...(percent === undefined ? [] : [Math.floor((window * percent) / 100)]),
    ...(policy === undefined ? [] : [policy.compactAtTokens ?? Math.floor(window * defaultPart)]),
    // The window is smaller than anybody said: what was refused is what has to become smaller.
    ...(frame.hasOverflowed ? [promptTokens(state, frame)] : []),
  ];
  return {
    window,
    compactAt: Math.min(...bounds),
    summarizes: percent !== undefined || policy !== undefined,
    isHard: percent !== undefined,
  };
}

function percentOf(awareness: string | undefined): number | undefined {
  const digits = /^limit:(\d+)$/.exec(awareness ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}
