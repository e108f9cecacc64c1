import type { Pricing } from "@reeve/contracts/agent";
import type { CallPrices } from "../model/price.ts";
import { pricesOf } from "../model/price.ts";
import { delegateFrames } from "../delegates/callers-of.ts";
import { modelOf } from "../model/model-of.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { frameLimits, limitsOf } from "./limits.ts";

/** The size of a model call at most. */
export interface CallSize {
  /** Tokens of the request. */
  readonly inputTokens: number;
  /** Tokens of the answer, as the request asks for. Undefined: the default of the provider. */
  readonly maxOutputTokens: number | undefined;
}

/**
 * Returns the maximum cost in US dollars of a model call of a frame. Undefined: no limit on cost applies to the frame, or its model has
 * no price. The preparation refuses a run with such a limit and such a model.
 */
export function worstCaseUsd(state: RunState, frame: Frame, size: CallSize): number | undefined {
  const pricing = cappedPricing(state, frame);
  if (pricing === undefined) return undefined;
  const prices = worstPrices(pricing, size.inputTokens);
  return inputUsd(prices, size) + ((size.maxOutputTokens ?? 0) * prices.output) / 1e6;
}

/**
 * Returns the prices of the model of a frame. Undefined: neither the run nor a delegate that the frame works for has a limit on cost, or
 * the model has no price.
 */
export function cappedPricing(state: RunState, frame: Frame): Pricing | undefined {
  const isCapped =
    limitsOf(state).costUsd !== undefined ||
    delegateFrames(state, frame).some((began) => frameLimits(state, began).costUsd !== undefined);
  return isCapped ? modelOf(state, frame)?.pricing : undefined;
}

/**
 * Returns the highest prices that a call with at most `inputTokens` can have. An operator may register prices by which a shorter request
 * costs more than a longer one.
 */
export function worstPrices(pricing: Pricing, inputTokens: number): CallPrices {
  const possible = [
    pricesOf(pricing, 0),
    ...pricing.longRequests
      .filter(({ aboveInputTokens }) => inputTokens > aboveInputTokens)
      .map(({ aboveInputTokens }) => pricesOf(pricing, aboveInputTokens + 1)),
  ];
  const highest = (price: keyof CallPrices) => Math.max(...possible.map((each) => each[price]));
  return {
    fresh: highest("fresh"),
    cached: highest("cached"),
    written: highest("written"),
    output: highest("output"),
  };
}

/** Returns the maximum cost of a request: the provider may read all of it from its cache, or write all of it to the cache. */
export function inputUsd(
  { fresh, cached, written }: CallPrices,
  { inputTokens }: CallSize,
): number {
  return (inputTokens * Math.max(fresh, cached, written)) / 1e6;
}
