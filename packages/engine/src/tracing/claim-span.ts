import type { Span } from "@opentelemetry/api";
import { ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { contextFrom, isSameTrace, linksTo, startSpan } from "@reeve/platform/telemetry/spans";
import type { RunState } from "../domain/state/run-state.ts";
import type { DispatchDelivery } from "../ports/ownership.ts";

/**
 * Starts the span of a claim. It is the parent of all spans of the worker for this run, and short, so that it is exported
 * even if the worker is killed. It belongs to the trace of the run: below the dispatch if that is part of the same trace,
 * and linked to the previous claim. The span of a claim that fails is never ended, and so never exported.
 */
export function startClaimSpan(state: RunState, ticket: DispatchDelivery, worker: string): Span {
  const before = state.head.claim?.traceparent ?? "";
  // A run that was created without tracing belongs to the trace of its first traced claim.
  const run = (state.head.created?.traceparent ?? "") || before;
  const dispatch = ticket.traceparent ?? "";
  const isInside = isSameTrace(dispatch, run);
  const parent = run === "" ? ROOT_CONTEXT : contextFrom(isInside ? dispatch : run);
  const options = {
    kind: SpanKind.CONSUMER,
    links: linksTo([before, ...(isInside ? [] : [dispatch])]),
    attributes: {
      [attributes.messagingSystem]: "nats",
      [attributes.messagingOperation]: "process",
      [attributes.runId]: state.head.runId,
      [attributes.worker]: worker,
      [attributes.claimEpoch]: (state.head.claim?.epoch ?? 0) + 1,
      [attributes.deliveryAttempt]: ticket.attempt,
    },
  };
  return startSpan("claim_run", options, parent);
}
