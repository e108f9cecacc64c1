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
 * Returns the maximum cost in US dollars of a model call of the frame. Undefined: the run has no cost limit, or the model no
 * price; a run with a limit is not prepared with such a model.
 */
export function worstCaseUsd(state: RunState, frame: Frame, size: CallSize): number | undefined {
  const pricing = cappedPricing(state, frame);
  if (pricing === undefined) return undefined;
  const prices = worstPrices(pricing, size.inputTokens);
  return inputUsd(prices, size) + ((size.maxOutputTokens ?? 0) * prices.output) / 1e6;
}

/** Returns the prices of the model of a frame. Undefined: the run has no cost limit, or the model no price. */
export function cappedPricing(state: RunState, frame: Frame): Pricing | undefined {
  const isCapped =
    limitsOf(state).costUsd !== undefined ||
    delegateFrames(state, frame).some((began) => frameLimits(state, began).costUsd !== undefined);
  return isCapped ? modelOf(state, frame)?.pricing : undefined;
}

/**
 * Returns the highest prices that a call with at most so many input tokens can have: a shorter request may cost more than a long
 * one, if an operator says so.
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

/** The whole request may be read from the provider's cache, or written to it. */
export function inputUsd(
  { fresh, cached, written }: CallPrices,
  { inputTokens }: CallSize,
): number {
  return (inputTokens * Math.max(fresh, cached, written)) / 1e6;
}
