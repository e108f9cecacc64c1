import type { AgentSpec } from "@reeve/contracts/agent";
import { stringsOf } from "../spec/string-list.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/** The context window, in tokens, that is assumed for a model whose window is not registered. */
export const assumedWindow = 128_000;

/** Returns warnings about settings of a spec that a model, or its provider, does not honor as they are written. */
export function modelWarnings(spec: AgentSpec, resolved: ResolvedModel): readonly string[] {
  return [
    ...temperatureWarning(spec, resolved),
    ...answerWarning(spec, resolved),
    ...windowWarning(spec, resolved),
    ...toolsWarning(spec, resolved),
  ];
}

function temperatureWarning(
  { temperature }: AgentSpec,
  { model, provider }: ResolvedModel,
): readonly string[] {
  const accepts =
    (model.capabilities?.temperature ?? true) && (provider.capabilities?.temperature ?? true);
  if (temperature === undefined || accepts) return [];
  return [
    `temperature: the model "${model.id}" of the provider ${provider.name} accepts none, so it is not sent`,
  ];
}

function answerWarning({ maxTokens }: AgentSpec, { model }: ResolvedModel): readonly string[] {
  const { id, maxOutputTokens } = model;
  if (maxTokens === undefined || maxOutputTokens === 0 || maxTokens <= maxOutputTokens) return [];
  return [
    `max_tokens: the model "${id}" gives answers of at most ${maxOutputTokens} tokens, so its provider may refuse each call; lower it`,
  ];
}

/** These settings are shares of the context window. */
function windowWarning(
  { budgetAwareness, contextPolicy }: AgentSpec,
  { model: { id, contextWindow } }: ResolvedModel,
): readonly string[] {
  if (contextWindow > 0) return [];
  const fields = [
    ...(budgetAwareness === undefined ? [] : ["budget_awareness"]),
    ...(contextPolicy === undefined || contextPolicy.compactAtTokens !== undefined
      ? []
      : ["context_policy"]),
  ];
  const assumed = assumedWindow.toLocaleString("en-US");
  return fields.map(
    (field) =>
      `${field}: the context window of the model "${id}" is not known, so ${assumed} tokens are assumed; set context_window in the model registry`,
  );
}

/** Without tools, an agent is a plain conversation, which is fine unless it asks for tools. */
function toolsWarning(spec: AgentSpec, { model, provider }: ResolvedModel): readonly string[] {
  const capabilities = model.capabilities ?? provider.capabilities;
  const field = fieldsAboutTools.find(([, isSet]) => isSet(spec))?.[0];
  if (capabilities === undefined || capabilities.tools || field === undefined) return [];
  return [`${field}: the model "${model.id}" does not call tools, so it has none`];
}

const fieldsAboutTools: readonly (readonly [field: string, isSet: (spec: AgentSpec) => boolean])[] =
  [
    ["hitl_tools", ({ hitlTools }) => hitlTools.length > 0],
    ["allowed_tools", ({ allowedTools }) => stringsOf(allowedTools).strings.length > 0],
    [
      "allowed_tool_patterns",
      ({ allowedToolPatterns }) => stringsOf(allowedToolPatterns).strings.length > 0,
    ],
    ["mcp_servers", ({ mcpServers }) => mcpServers.length > 0],
    ["permission_classes", ({ permissionClasses }) => permissionClasses.length > 0],
    ["allow_parallel_subagents", ({ allowParallelSubagents }) => allowParallelSubagents],
  ];
