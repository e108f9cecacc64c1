import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolStatus, ToolStatusSchema } from "@reeve/contracts/tool";
import { contentAttribute } from "@reeve/platform/telemetry/span-content";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { contextFrom, inSpan } from "@reeve/platform/telemetry/spans";
import { statusOf } from "../journal/journal-facts.ts";
import type { CallResult } from "../ports/tool.ts";

/** Executes a call in a span below the run's, which the request names. */
export async function inExecutionSpan(
  { call, runId, tenant, traceparent }: ToolCallRequest,
  execute: () => Promise<CallResult>,
): Promise<CallResult> {
  const name = call?.name ?? "";
  const described = {
    [attributes.operation]: operations.executeTool,
    [attributes.toolName]: name,
    [attributes.toolType]: "function",
    [attributes.toolCallId]: call?.callId ?? "",
    ...(call?.nodeId && { [attributes.nodeId]: call.nodeId }),
    [attributes.runId]: runId,
    [attributes.tenant]: tenant,
    ...contentAttribute(attributes.toolArguments, () => call?.arguments ?? {}),
  };
  const options = { kind: SpanKind.INTERNAL, attributes: described };
  const parent = contextFrom(traceparent);
  return await inSpan(`${operations.executeTool} ${name}`, options, parent, async (span) => {
    const result = await execute();
    const status = statusOf(result);
    const statusName = ToolStatusSchema.value[status]?.localName.toLowerCase() ?? "";
    span.setAttribute(attributes.toolStatus, statusName);
    if (status !== ToolStatus.SUCCESS) {
      span.setAttribute(attributes.errorType, result.endReason ?? statusName);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.setAttributes(contentAttribute(attributes.toolResult, () => result.content));
    return result;
  });
}
