import { assumedWindow } from "@reeve/agent/resolve/model-warnings";
import { frameLimits } from "../budget/limits.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import { modelOf } from "../model/model-of.ts";
import { countedTokens, tokenRatio } from "../model/prompt-tokens.ts";
import type { RunState } from "../state/run-state.ts";

/** The maximum size of a frame's conversation, in tokens. */
export interface ContextLimit {
  /** The context window of the model, or a default if it is unknown. */
  readonly window: number;
  /** A larger conversation is compacted before the next model call. */
  readonly compactAt: number;
  /** A larger conversation, after compaction, ends the run. Undefined: none does. */
  readonly endAt: number | undefined;
  /** Whether compaction summarizes older messages. Otherwise it drops them. */
  readonly summarizes: boolean;
}

/** The share of the window at which a context policy without a number starts to summarize. */
const defaultShare = 0.8;

export function contextLimit(state: RunState, frame: Frame): ContextLimit {
  const { spec } = workingAgent(state, frame);
  const known = modelOf(state, frame)?.contextWindow ?? 0;
  const window = known === 0 ? assumedWindow : known;
  const percent = percentOf(spec?.budgetAwareness);
  const endAt = percent === undefined ? undefined : Math.floor((window * percent) / 100);
  const policy = spec?.contextPolicy;
  const bounds = [
    frameLimits(state, frame).historyTokens,
    ...(endAt === undefined ? [] : [endAt]),
    ...(policy === undefined ? [] : [policy.compactAtTokens ?? Math.floor(window * defaultShare)]),
    // The provider refused the prompt, so the window is smaller than known: the prompt has to shrink.
    ...(frame.hasOverflowed
      ? [Math.floor(tokenRatio(state, frame) * countedTokens(state, frame))]
      : []),
  ];
  return {
    window,
    compactAt: Math.min(...bounds),
    endAt,
    summarizes: percent !== undefined || policy !== undefined,
  };
}

function percentOf(awareness: string | undefined): number | undefined {
  const digits = /^limit:(\d+)$/.exec(awareness ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}
