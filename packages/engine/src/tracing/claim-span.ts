import type { Span } from "@opentelemetry/api";
import { ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import { attributes } from "@reeve/platform/telemetry/span-names";
import { contextFrom, isSameTrace, linksTo, startSpan } from "@reeve/platform/telemetry/spans";
import type { RunState } from "../domain/state/run-state.ts";
import type { DispatchDelivery } from "../ports/ownership.ts";

/**
 * The span of a claim, short as it is: what a worker does with the run stands below it, and it is exported also when that
 * worker is killed. It is in the trace of the run, whoever dispatched it, below the dispatch where that is in the trace
 * too, and linked to the claim before. A claim that does not come to be is never ended, and so never exported.
 */
export function startClaimSpan(state: RunState, ticket: DispatchDelivery, worker: string): Span {
  const before = state.head.claim?.traceparent ?? "";
  // A run that began when nothing was traced stays in the trace of its first claim that was.
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
