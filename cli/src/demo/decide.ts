import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval, Client } from "@reeve/client";
import type { Context } from "../context.ts";
import { parseJsonObject } from "../parse-json-object.ts";
import { oneLine } from "../render/plain-text.ts";
import type { Terminal } from "../terminal.ts";

/** Who decides an approval: a person at the terminal, or an option of the command. */
export type DecisionMode = "ask" | "approve" | "reject";

/** Decides an approval of the demo. */
export async function decide(
  context: Pick<Context, "terminal" | "signal">,
  reeve: Pick<Client, "decide">,
  approval: Approval,
  mode: DecisionMode,
): Promise<void> {
  const { signal } = context;
  const { approvalId } = approval;
  const decision = mode === "ask" ? await ask(context, approval) : { approved: mode === "approve" };
  const reason = decision.approved ? "" : "rejected by a person";
  await reeve.decide({ approvalId, reason, ...decision }, { signal });
}

interface Decision {
  readonly approved: boolean;
  readonly editedArguments?: JsonObject;
}

async function ask(
  { terminal, signal }: Pick<Context, "terminal" | "signal">,
  { call, allowEditedArguments }: Approval,
): Promise<Decision> {
  const keys = allowEditedArguments ? "[y/n/e]" : "[y/n]";
  for (;;) {
    const question = `    approve ${call?.name ?? "the call"}? ${keys} `;
    const answer = (await terminal.ask(question, signal)).trim().toLowerCase();
    if (answer === "y" || answer === "yes") return { approved: true };
    if (answer === "n" || answer === "no") return { approved: false };
    if (!allowEditedArguments || (answer !== "e" && answer !== "edit")) continue;
    const editedArguments = await askArguments(terminal, call?.arguments ?? {}, signal);
    if (editedArguments !== undefined) return { approved: true, editedArguments };
  }
}

/** Asks for other arguments. Returns undefined if the answer is empty or not a JSON object. */
async function askArguments(
  terminal: Terminal,
  current: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  terminal.out(`    arguments: ${oneLine(JSON.stringify(current), 10_000)}\n`);
  const text = (await terminal.ask("    other arguments, as JSON: ", signal)).trim();
  const object = parseJsonObject(text);
  if (object === undefined && text !== "") terminal.out("    that is not a JSON object\n");
  return object;
}
