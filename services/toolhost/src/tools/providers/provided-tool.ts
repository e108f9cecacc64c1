import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { compileSchema } from "@reeve/agent/schema/compile-schema";
import { permissionClassOf } from "@reeve/agent/tools/permission-classes";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { ProvidedTool } from "@reeve/contracts/extensions/tool-provider";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { isObjectSchema } from "@reeve/calls/execute/check-arguments";
import type { ProviderConfig } from "./provider-config.ts";

/** The descriptor of a tool of a provider, or why it cannot be offered. */
export type DescribedTool =
  | { readonly kind: "tool"; readonly descriptor: ToolDescriptor }
  | { readonly kind: "refused"; readonly reason: string };

const validName = /^[a-zA-Z0-9_-]{1,128}$/;
const maxTitle = 128;
/** What a provider may say of the cost of a call. */
const costHints: ReadonlySet<string> = new Set(["tool", "model", "agent"]);

/** Returns the descriptor of a provider's tool. The policy of the operator overrides what the provider says. */
export function describedTool(
  provider: string,
  { permission_class: providerClass, tools }: ProviderConfig,
  tool: ProvidedTool,
): DescribedTool {
  const name = `${provider}__${tool.name}`;
  if (tool.name === "" || !validName.test(name))
    return refused(`"${tool.name}" is not a valid name of a tool`);
  const policy = Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
  const own = tool.permissionClass === "" ? providerClass : permissionClassOf(tool.permissionClass);
  const permissionClass = policy?.permission_class ?? own;
  if (permissionClass === undefined || permissionClass === PermissionClass.SUBAGENT) {
    return refused(`"${tool.permissionClass}" is not a permission class of a tool`);
  }
  const inputSchema = tool.inputSchema ?? { type: "object", properties: {} };
  if (!isStorable(inputSchema)) return refused("its input_schema is nested too deeply");
  if (!isObjectSchema(inputSchema)) {
    return refused("its input_schema is not a valid JSON Schema of an object");
  }
  const { outputSchema } = tool;
  const outputProblem = outputSchema && problemOfOutput(outputSchema);
  if (outputProblem !== undefined) return refused(`its output_schema ${outputProblem}`);
  if (tool.costHint !== "" && !costHints.has(tool.costHint)) {
    return refused(`"${tool.costHint.slice(0, 64)}" is no cost_hint: use tool, model, or agent`);
  }
  const descriptor = create(ToolDescriptorSchema, {
    name,
    // A provider may repeat what it was sent.
    description: processRedaction.text(tool.description),
    inputSchema: processRedaction.json(inputSchema),
    permissionClass,
    source: `provider:${provider}`,
    parallelSafe: policy?.parallel_safe ?? tool.parallelSafe ?? true,
    exclusiveLock: policy?.exclusive_lock ?? tool.exclusiveLock,
    idempotent: policy?.idempotent ?? tool.idempotent,
    title: processRedaction.text(tool.title).slice(0, maxTitle),
    ...(outputSchema && { outputSchema: processRedaction.json(outputSchema) }),
    costHint: tool.costHint,
  });
  return { kind: "tool", descriptor };
}

/** Returns why no result can be checked against a schema. Undefined: results can. */
function problemOfOutput(schema: JsonObject): string | undefined {
  if (!isStorable(schema)) return "is nested too deeply";
  const redacted = processRedaction.json(schema);
  if (!isObjectSchema(redacted)) return "is not a valid JSON Schema of an object";
  const compiled = compileSchema(redacted);
  return compiled.kind === "invalid" ? `cannot be checked: ${compiled.problem}` : undefined;
}

function refused(reason: string): DescribedTool {
  return { kind: "refused", reason };
}
