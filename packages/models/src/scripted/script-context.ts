import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import type { Condition, ConversationCondition } from "./script.ts";

/** The parts of a prompt that conditions test and quotations quote. */
export interface ScriptContext {
  readonly model: string;
  readonly system: string;
  /** The names of the tools that are offered. */
  readonly tools: ReadonlySet<string>;
  /** The messages of the user, oldest first. */
  readonly inputs: readonly string[];
  /** The latest message of the user. */
  readonly input: string;
  /** The files of the latest message of the user, as `{{ files }}` quotes them: name, media type, and size of what was transferred. */
  readonly files: string;
  /** The notes of the runtime on the latest message. */
  readonly notes: string;
  /** The last result of each tool. */
  readonly results: ReadonlyMap<string, { readonly content: string; readonly isError: boolean }>;
  /** The number of assistant messages. */
  readonly turnCount: number;
}

/** Returns the script context of a prompt. */
export function scriptContext({
  model,
  instructions,
  messages,
  tools,
  files,
}: ModelRequest): ScriptContext {
  const results = new Map<string, { readonly content: string; readonly isError: boolean }>();
  const inputs: string[] = [];
  let notes: readonly string[] = [];
  let turnCount = 0;
  for (const message of messages) {
    switch (message.role) {
      case "user":
        inputs.push(message.text);
        notes = message.notes ?? [];
        break;
      case "assistant":
      case "verbatim":
        turnCount += 1;
        notes = [];
        break;
      case "tool":
        results.set(message.name, message);
        notes = message.notes ?? [];
        break;
    }
  }
  return {
    model: model.id,
    system: instructions,
    tools: new Set(tools.map(({ name }) => name)),
    inputs,
    input: inputs.at(-1) ?? "",
    files: filesIn(
      messages.findLast(({ role }) => role === "user"),
      files,
    ),
    notes: notes.join("\n"),
    results,
    turnCount,
  };
}

function filesIn(message: PromptMessage | undefined, files: ModelRequest["files"]): string {
  const parts = message?.role === "user" ? (message.parts ?? []) : [];
  const lines = parts.flatMap((part) => {
    if (part.kind === "text") return [];
    const { artifactId, name, mediaType } = part;
    return [`${name} (${mediaType}, ${files?.get(artifactId)?.length ?? 0} bytes)`];
  });
  return lines.join(", ");
}

/** Whether all parts of `condition` match. */
export function matchesCondition(condition: Condition, context: ScriptContext): boolean {
  const { tool, matches, is_error: isError, input, notes } = condition;
  if (input !== undefined && !input.test(context.input)) return false;
  if (notes !== undefined && !notes.test(context.notes)) return false;
  if (!matchesRequest(condition, context)) return false;
  if (tool === undefined) return true;
  const result = context.results.get(tool);
  if (result === undefined) return false;
  if (isError !== undefined && result.isError !== isError) return false;
  return matches === undefined || matches.test(result.content);
}

/** Whether the prompt belongs to the conversation that `condition` describes. */
export function matchesConversation(
  condition: ConversationCondition,
  context: ScriptContext,
): boolean {
  const { input, model } = condition;
  if (model !== undefined && model !== context.model) return false;
  if (input !== undefined && !context.inputs.some((text) => input.test(text))) return false;
  return matchesRequest(condition, context);
}

function matchesRequest(
  { system, tools_include: tool }: ConversationCondition,
  context: ScriptContext,
): boolean {
  if (system !== undefined && !system.test(context.system)) return false;
  return tool === undefined || context.tools.has(tool);
}
