import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval, Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { isAborted } from "../abort.ts";
import { parseJsonObject } from "../parse-json-object.ts";
import { renderError } from "../render/error.ts";
import { plainText } from "../render/plain-text.ts";
import { wholeJson } from "../render/whole-json.ts";
import type { DecisionContext } from "./decision-context.ts";
import { editText, editorOf } from "./edit-text.ts";

/**
 * Asks a person to decide an approval, with the whole arguments, or the whole question and the fields of the answer, until the
 * server accepts a decision. Asks again if the server refuses the arguments, or does not answer. The person may edit them in the editor. Returns without a decision if the person ends the input with Ctrl-D. Rejects when
 * `withdrawn` aborts while the person is asked; a decision that is sent continues, so that its answer is not lost.
 */
export async function askPerson(
  context: DecisionContext,
  reeve: Pick<Client, "decide">,
  approval: Approval,
  withdrawn: AbortSignal,
): Promise<void> {
  const { terminal, signal } = context;
  const asking = AbortSignal.any([signal, withdrawn]);
  const { approvalId, callDigest, question } = approval;
  const { isEditable, ...given } = subjectOf(approval);
  const keys = isEditable ? "[y]es/[n]o/[e]dit" : "[y]es/[n]o";
  let value = given.value;
  // The line above shows only the start of a question.
  if (question) terminal.out(`    question:\n${indented(plainText(question.message))}`);
  terminal.out(`    ${given.name}:\n${indented(wholeJson(value))}`);
  for (;;) {
    const line = await terminal.ask(`    ${given.verb}? ${keys} `, asking);
    if (line === undefined) return;
    const key = line.trim().toLowerCase();
    const edited = value !== given.value && { editedArguments: value };
    let decision;
    if (key === "y" || key === "yes") {
      decision = { approved: true, ...(question ? { answer: value } : edited) };
    } else if (key === "n" || key === "no") {
      const reason = await terminal.ask("    reason (Enter for none): ", asking);
      if (reason === undefined) return;
      decision = { approved: false, reason: reason.trim() };
    } else {
      const isEdit = key === "e" || key === "edit";
      if (isEdit && isEditable) value = await edit({ ...context, signal: asking }, approval, value);
      else terminal.out(`    ${isEdit ? notEditable(approval) : `please answer ${keys}`}\n`);
      continue;
    }
    try {
      // The digest binds the decision to the call that the person saw.
      await reeve.decide({ approvalId, callDigest, ...decision }, { signal });
      return;
    } catch (error) {
      const isRepeatable =
        error instanceof ReeveError && (error.violations.length > 0 || error.isTransient);
      if (!isRepeatable || isAborted(signal)) throw error;
      terminal.note(renderError(error, undefined, terminal.style));
    }
  }
}

function notEditable({ question }: Approval): string {
  return question
    ? "the answer has no fields to edit"
    : "the agent does not permit edited arguments; see approval_policy in docs/agents.md";
}

interface Subject {
  /** How the line above the value describes it. */
  readonly name: string;
  readonly verb: string;
  readonly value: JsonObject;
  readonly isEditable: boolean;
}

function subjectOf({ call, question, allowEditedArguments }: Approval): Subject {
  if (question === undefined) {
    const value = call?.arguments ?? {};
    return { name: "arguments", verb: "approve", value, isEditable: allowEditedArguments };
  }
  const value = emptyAnswer(question.schema);
  const isEditable = Object.keys(value).length > 0;
  return { name: "answer", verb: "answer", value, isEditable };
}

/** Returns the fields of an answer, each with its default, or null. */
function emptyAnswer(schema: JsonObject | undefined): JsonObject {
  const fields = Object.entries(objectOf(schema?.["properties"]));
  return Object.fromEntries(
    fields.map(([name, field]) => [name, objectOf(field)["default"] ?? null]),
  );
}

function objectOf(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** Returns what the person made of `value` in the editor, and shows it. Returns `value` if that is not a JSON object. */
async function edit(
  { terminal, environment, signal, reeve }: DecisionContext,
  { approvalId, question }: Approval,
  value: JsonObject,
): Promise<JsonObject> {
  const editor = editorOf(environment);
  if (editor === undefined) {
    const option = question ? "--answer" : "--args";
    terminal.out(`    there is no editor: set EDITOR, or run in another terminal:\n`);
    terminal.out(`      ${reeve} approve ${approvalId} ${option} '{…}'\n`);
    return value;
  }
  const before = `${wholeJson(value)}\n`;
  const text = await terminal
    .lend(() => editText(before, editor, signal))
    .catch((error: unknown) => {
      if (isAborted(signal)) throw error;
      // An editor that ends with an error, as `:cq` of vim does, leaves the text as it was.
      terminal.note(renderError(error, undefined, terminal.style));
      return before;
    });
  if (text === before) return value;
  const edited = parseJsonObject(text);
  if (edited === undefined) {
    terminal.out("    that is not a JSON object; nothing is changed\n");
    return value;
  }
  terminal.out(indented(wholeJson(edited)));
  return edited;
}

function indented(text: string): string {
  return text.replace(/^/gm, "      ") + "\n";
}
