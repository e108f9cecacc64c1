import type { Attributes, Span } from "@opentelemetry/api";
import { SpanStatusCode } from "@opentelemetry/api";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextFrom, inSpan } from "@reeve/platform/telemetry/spans";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunRelease } from "../ports/ownership.ts";
import { RunStatus } from "@reeve/contracts/run";

/** Drives a run in the span of its agent, below the claim, from there to where the run rests: never while it waits. */
export async function inRunSpan(
  state: RunState,
  drive: () => Promise<RunRelease>,
): Promise<RunRelease> {
  const options = { attributes: { ...agentAttributes(state), ...modelAttributes(state) } };
  const parent = contextFrom(state.head.claim?.traceparent ?? "");
  const name = `${operations.invokeAgent} ${agentNameOf(state)}`;
  return await inSpan(name, options, parent, async (span) => {
    const rest = await drive();
    tellRest(span, rest);
    return rest;
  });
}

/** What spans of an agent say of it. */
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

/** The id: the name of an agent is for people, and need not be short. */
export function agentNameOf({ head: { created } }: RunState): string {
  return created?.agentId ?? "";
}

function modelAttributes({ head: { prepared } }: RunState): Attributes {
  const { model } = prepared ?? {};
  return model === undefined
    ? {}
    : { [attributes.provider]: model.provider, [attributes.requestModel]: model.upstreamName };
}

function tellRest(span: Span, { kind, state }: RunRelease): void {
  span.setAttribute(attributes.runRelease, kind);
  if (kind !== "ended" || state.head.status !== RunStatus.ERROR) return;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(attributes.errorType, "run_failed");
}
