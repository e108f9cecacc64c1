import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolStatus, ToolStatusSchema } from "@reeve/contracts/tool";
import { contentAttribute } from "@reeve/platform/telemetry/span-content";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextFrom, inSpan } from "@reeve/platform/telemetry/spans";
import type { Performed } from "./performed.ts";

/** Executes a call in a span below its request, which names the trace of the run. */
export async function inExecutionSpan(
  { call, runId, tenant, traceparent }: ToolCallRequest,
  execute: () => Promise<Performed>,
): Promise<Performed> {
  const name = call?.name ?? "";
  const described = {
    [attributes.operation]: operations.executeTool,
    [attributes.toolName]: name,
    [attributes.toolType]: "function",
    [attributes.toolCallId]: call?.callId ?? "",
    [attributes.runId]: runId,
    [attributes.tenant]: tenant,
    ...contentAttribute(attributes.toolArguments, () => call?.arguments ?? {}),
  };
  const options = { kind: SpanKind.INTERNAL, attributes: described };
  const parent = contextFrom(traceparent);
  return await inSpan(`${operations.executeTool} ${name}`, options, parent, async (span) => {
    const performed = await execute();
    const status = ToolStatusSchema.value[performed.status]?.localName.toLowerCase() ?? "";
    span.setAttribute(attributes.toolStatus, status);
    if (performed.status !== ToolStatus.SUCCESS) {
      span.setAttribute(attributes.errorType, performed.endReason ?? status);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.setAttributes(contentAttribute(attributes.toolResult, () => performed.content));
    return performed;
  });
}
