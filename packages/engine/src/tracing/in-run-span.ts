import type { Attributes, Span } from "@opentelemetry/api";
import { SpanStatusCode } from "@opentelemetry/api";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextFrom, inSpan } from "@reeve/platform/telemetry/spans";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunRelease } from "../ports/ownership.ts";
import { RunStatus } from "@reeve/contracts/run";

/** Drives a claimed run in a span of its agent below the claim. The span ends when the run is released, so it never covers a wait. */
export async function inRunSpan(
  state: RunState,
  drive: () => Promise<RunRelease>,
): Promise<RunRelease> {
  const options = { attributes: { ...agentAttributes(state), ...modelAttributes(state) } };
  const parent = contextFrom(state.head.claim?.traceparent ?? "");
  const name = `${operations.invokeAgent} ${agentNameOf(state)}`;
  return await inSpan(name, options, parent, async (span) => {
    const release = await drive();
    recordRelease(span, release);
    return release;
  });
}

/** Returns the attributes of an agent's spans. */
export function agentAttributes(state: RunState): Attributes {
  const { created, runId } = state.head;
  return {
    [attributes.operation]: operations.invokeAgent,
    [attributes.agentId]: created?.agentId ?? "",
    [attributes.agentName]: agentNameOf(state),
    [attributes.agentVersion]: String(created?.agentRevision ?? 0),
    [attributes.runId]: runId,
    [attributes.tenant]: created?.tenant ?? "",
    ...(created?.threadId && { [attributes.conversation]: created.threadId }),
  };
}

/** Returns the agent's id: its display name may be long. */
export function agentNameOf({ head: { created } }: RunState): string {
  return created?.agentId ?? "";
}

function modelAttributes({ head: { prepared } }: RunState): Attributes {
  const { model } = prepared ?? {};
  return model === undefined
    ? {}
    : { [attributes.provider]: model.provider, [attributes.requestModel]: model.upstreamName };
}

function recordRelease(span: Span, { kind, state }: RunRelease): void {
  span.setAttribute(attributes.runRelease, kind);
  if (kind !== "ended" || state.head.status !== RunStatus.ERROR) return;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(attributes.errorType, "run_failed");
}
