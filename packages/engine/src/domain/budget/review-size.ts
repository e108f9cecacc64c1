import type { ModelSpec, Reviewer } from "@reeve/contracts/agent";
import { reviewingFrame } from "../calls/review/reviewing-frame.ts";
import { dueReview, reviewRequest, reviewTokens } from "../calls/review/review-call.ts";
import { requestTokens } from "../model/count-request.ts";
import { modelOf } from "../model/model-of.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { CallSize } from "./worst-case.ts";

/** The size of a review at most. */
export type ReviewSize = CallSize & { readonly maxOutputTokens: number };

/** Returns the size of the review of a call. */
export function reviewSize(
  frame: Frame,
  call: Call,
  reviewer: Reviewer,
  model: ModelSpec,
): ReviewSize {
  const maxOutputTokens = reviewTokens(model);
  const request = reviewRequest(frame, call, { ...reviewer, maxTokens: maxOutputTokens });
  return { inputTokens: Math.ceil(frame.scale * requestTokens(request)), maxOutputTokens };
}

/** Returns the size of the review in progress, and the frame whose model makes it. Undefined: there is none, or no model. */
export function dueReviewSize(
  state: RunState,
): { readonly frame: Frame; readonly size: ReviewSize } | undefined {
  const due = dueReview(state);
  if (due === undefined) return undefined;
  const frame = reviewingFrame(state, due.frame);
  const model = modelOf(state, frame);
  if (model === undefined) return undefined;
  return { frame, size: reviewSize(due.frame, due.call, due.reviewer, model) };
}
