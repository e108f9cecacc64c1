import type { Approval, Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { isAborted } from "../../abort.ts";
import { parseJsonObject } from "../../parse-json-object.ts";
import { renderError } from "../../render/error.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";
import { wholeJson } from "../../render/whole-json.ts";
import type { DecisionContext } from "../decision-context.ts";
import { answerFrom, answerShape } from "./answer-shape.ts";
import { sendAnswer } from "./send-answer.ts";

/**
 * Asks a person a question of an agent until the server accepts the answer, or that the person declines. Returns without an answer if the
 * person ends the input with Ctrl-D. Rejects when `withdrawn` aborts while the person is asked; an answer that is sent continues.
 */
export async function askQuestion(
  { terminal, signal }: DecisionContext,
  reeve: Pick<Client, "answer" | "decide">,
  { approvalId, question }: Approval,
  withdrawn: AbortSignal,
): Promise<void> {
  const asking = AbortSignal.any([signal, withdrawn]);
  const shape = answerShape(question ?? {});
  terminal.out(`    question:\n${indented(plainText(question?.message ?? ""))}`);
  for (const [index, choice] of shape.choices.entries()) {
    terminal.out(`      ${index + 1}. ${oneLine(choice, 256)}\n`);
  }
  if (shape.kind === "form") {
    terminal.out(`    answer, a JSON object:\n${indented(wholeJson(question?.schema ?? {}))}`);
  }
  for (;;) {
    const line = await terminal.ask(`    ${labels[shape.kind]} (/decline to decline): `, asking);
    if (line === undefined) return;
    const isDeclined = line.trim() === "/decline";
    const reason = isDeclined ? await terminal.ask("    reason (Enter for none): ", asking) : "";
    if (reason === undefined) return;
    const form = shape.kind === "form" ? parseJsonObject(line) : undefined;
    const answer = isDeclined ? undefined : (form ?? answerFrom(shape, [line]));
    if (typeof answer === "string") {
      terminal.out(`    ${shape.kind === "form" ? "write a JSON object" : answer}\n`);
      continue;
    }
    try {
      await sendAnswer(
        reeve,
        { approvalId, reason: reason.trim(), ...(answer && { answer }) },
        signal,
      );
      return;
    } catch (error) {
      const isRepeatable =
        error instanceof ReeveError && (error.violations.length > 0 || error.isTransient);
      if (!isRepeatable || isAborted(signal)) throw error;
      terminal.note(renderError(error, undefined, terminal.style));
    }
  }
}

const labels = {
  text: "answer",
  choice: "answer, a choice or its number",
  choices: "answer, choices or their numbers, with commas",
  value: "answer, a JSON value",
  form: "answer",
} as const;

function indented(text: string): string {
  return text.replace(/^/gm, "      ") + "\n";
}
