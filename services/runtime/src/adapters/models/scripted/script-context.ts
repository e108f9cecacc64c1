import type { PromptMessage } from "../../../ports/model-provider.ts";
import type { Condition } from "./script.ts";

/** What a script may ask of and quote from a prompt. */
export interface ScriptContext {
  /** The latest message of the user. */
  readonly input: string;
  /** The last result of each tool. */
  readonly results: ReadonlyMap<string, { readonly content: string; readonly isError: boolean }>;
  /** How many turns the assistant has said. */
  readonly turnsSaid: number;
}

/** Reads a prompt as scripts see it. */
export function scriptContext(messages: readonly PromptMessage[]): ScriptContext {
  const results = new Map<string, { readonly content: string; readonly isError: boolean }>();
  let input = "";
  let turnsSaid = 0;
  for (const message of messages) {
    switch (message.role) {
      case "user":
        input = message.text;
        break;
      case "assistant":
      case "verbatim":
        turnsSaid += 1;
        break;
      case "tool":
        results.set(message.name, message);
        break;
    }
  }
  return { input, results, turnsSaid };
}

/** Whether everything that `condition` asks for holds. */
export function holds(
  { tool, matches, is_error: isError, input }: Condition,
  context: ScriptContext,
): boolean {
  if (input !== undefined && !input.test(context.input)) return false;
  if (tool === undefined) return true;
  const result = context.results.get(tool);
  if (result === undefined) return false;
  if (isError !== undefined && result.isError !== isError) return false;
  return matches === undefined || matches.test(result.content);
}
