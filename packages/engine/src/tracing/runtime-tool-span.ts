import { context } from "@opentelemetry/api";
import { contentAttribute } from "@reeve/platform/telemetry/span-content";
import { attributes, operations } from "@reeve/platform/telemetry/span-names";
import { inSpan } from "@reeve/platform/telemetry/spans";
import type { ToolCall, ToolResult } from "@reeve/contracts/tool";

/** Executes a call of a runtime tool in a span. */
export async function inRuntimeToolSpan<Result extends Pick<ToolResult, "content" | "isError">>(
  { callId, name, arguments: args }: ToolCall,
  execute: () => Promise<Result>,
): Promise<Result> {
  const described = {
    [attributes.operation]: operations.executeTool,
    [attributes.toolName]: name,
    [attributes.toolType]: "function",
    [attributes.toolCallId]: callId,
    ...contentAttribute(attributes.toolArguments, () => args ?? {}),
  };
  const spanName = `${operations.executeTool} ${name}`;
  return await inSpan(spanName, { attributes: described }, context.active(), async (span) => {
    const result = await execute();
    span.setAttribute(attributes.toolStatus, result.isError ? "error" : "success");
    span.setAttributes(contentAttribute(attributes.toolResult, () => result.content));
    return result;
  });
}
