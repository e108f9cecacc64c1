import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { ScriptContext } from "./script-context.ts";
import { matchesCondition, matchesConversation } from "./script-context.ts";
import type { Script, ScriptTurn } from "./script.ts";

/** Returns the turn of a script for a prompt. Throws a ModelFailure that says what to add if there is none. */
export function chooseTurn(
  { name, file, conversations }: Script,
  context: ScriptContext,
): ScriptTurn {
  const number = context.turnCount + 1;
  const conversation = conversations.find(
    ({ when }) => when === undefined || matchesConversation(when, context),
  );
  if (conversation === undefined) {
    throw missing(`script ${name} has no conversation whose \`when\` matches: add one to ${file}`);
  }
  const alternatives = conversation.turns[context.turnCount];
  if (alternatives === undefined) {
    throw missing(`script ${name} has no turn ${number}: add one to ${file}`);
  }
  const chosen = alternatives.find(
    ({ when }) => when === undefined || matchesCondition(when, context),
  );
  if (chosen === undefined) {
    const hint = `add an alternative without \`when\` to ${file}`;
    throw missing(`script ${name} has no turn ${number} whose \`when\` matches: ${hint}`);
  }
  return chosen;
}

function missing(what: string): ModelFailure {
  return new ModelFailure("invalid", what);
}
