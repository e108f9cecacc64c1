import type { Message } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import type { GatewayApi } from "../gateway-api.ts";
import type { TaskView } from "../task/task-view.ts";
import { contentOf, idOf } from "./read-message.ts";

/** Whether a message has reached its task already: as a decision, an answer, or a message that its run has read. */
export function isDelivered({ taskId, decisions, history }: TaskView, message: Message): boolean {
  const id = idOf(taskId, message);
  return decisions.has(id) || history.some(({ messageId }) => messageId === id);
}

/**
 * Passes a message on to a task: as the decision or the answer that the task waits for, or as a message to its run. Repeating the
 * message changes nothing. Throws an A2AError if the message is not what the task waits for.
 */
export async function answerTask(
  api: GatewayApi,
  view: TaskView,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const decisionId = idOf(view.taskId, message);
  const given = decisionIn(message);
  if (view.waiting.size === 0) {
    if (given !== undefined) throw malformed(`task ${view.taskId} waits for no decision`);
    const { text, parts } = contentOf(message);
    const request = { runId: view.taskId, text, parts: [...parts], messageId: decisionId };
    await api.runs.sendMessage(request, { signal });
    return;
  }
  const approval = approvalFor(view, given);
  const { approvalId, question } = approval;
  const reason = textField(given, "reason");
  if (question === undefined) {
    const approved = verdictOf(approval, given);
    // Before the decision, so that the next step reads it.
    await sendNotes(api, view, message, signal);
    const callDigest = textField(given, "callDigest");
    const edited = objectField(given, "editedArguments");
    const decision = { approvalId, approved, reason, decisionId, callDigest };
    await api.approvals.decideApproval(
      { ...decision, ...(edited && { editedArguments: edited }) },
      { signal },
    );
    return;
  }
  const isDeclined = textField(given, "decision") === "decline";
  const answer = isDeclined ? undefined : answerTo(approval, given, message);
  if (given !== undefined) await sendNotes(api, view, message, signal);
  if (question.askedBy === "agent") {
    const answered = isDeclined ? { declined: true } : { ...(answer && { answer }) };
    await api.approvals.answerQuestion({ approvalId, reason, decisionId, ...answered }, { signal });
    return;
  }
  const approved = !isDeclined;
  const decision = { approvalId, approved, reason, decisionId, ...(answer && { answer }) };
  await api.approvals.decideApproval(decision, { signal });
}

/** Passes the texts and the files beside a decision on to the run. */
async function sendNotes(
  api: GatewayApi,
  view: TaskView,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const notes = message.parts.filter(({ content }) => content?.$case !== "data");
  if (notes.length === 0) return;
  const { text, parts } = contentOf({ parts: notes });
  const messageId = idOf(`${view.taskId}/notes`, message);
  const request = { runId: view.taskId, text, parts: [...parts], messageId };
  await api.runs.sendMessage(request, { signal });
}

/** Returns the data of a message that decides or answers: an object with `decision`, `answer`, or `approvalId`. */
function decisionIn({ parts }: Message): JsonObject | undefined {
  for (const { content } of parts) {
    if (content?.$case !== "data") continue;
    // The SDK parsed JSON.
    const value = content.value as JsonValue;
    if (!isObject(value)) continue;
    if (["decision", "answer", "approvalId"].some((key) => Object.hasOwn(value, key))) return value;
  }
  return undefined;
}

function approvalFor({ taskId, waiting }: TaskView, given: JsonObject | undefined): Approval {
  const id = textField(given, "approvalId");
  const ids = [...waiting.keys()].join(", ");
  if (id !== "") {
    const named = waiting.get(id);
    if (named === undefined)
      throw malformed(`task ${taskId} does not wait for ${id}, but for ${ids}`);
    return named;
  }
  const [only, ...others] = waiting.values();
  if (only === undefined || others.length > 0) {
    throw malformed(
      `task ${taskId} waits for ${ids}; name one of them in a data part as approvalId`,
    );
  }
  return only;
}

function verdictOf({ approvalId, call }: Approval, given: JsonObject | undefined): boolean {
  const decision = textField(given, "decision");
  if (decision === "approve") return true;
  if (decision === "reject") return false;
  throw malformed(
    `the call of ${call?.name ?? "a tool"} waits for a decision; send a data part {"approvalId": "${approvalId}", "decision": "approve"} or "reject"`,
  );
}

/** A text answers a question whose answer is one text. Every other answer is data. */
function answerTo(
  { question }: Approval,
  given: JsonObject | undefined,
  message: Message,
): JsonObject {
  if (given !== undefined) {
    const answer = given["answer"];
    if (isObject(answer)) return answer;
    const name = onlyProperty(question?.schema);
    if (answer !== undefined && name !== undefined) return { [name]: answer };
    throw malformed("answer must be an object that matches answerSchema");
  }
  const data = message.parts.find(({ content }) => content?.$case === "data")?.content;
  if (data?.$case === "data") {
    const value = data.value as JsonValue;
    if (isObject(value)) return value;
  }
  const name = onlyProperty(question?.schema);
  if (name === undefined) {
    throw malformed(
      'the question needs an answer with several values; send a data part {"answer": {…}} that matches answerSchema',
    );
  }
  return { [name]: contentOf(message).text };
}

/** Returns the name of the only property of a schema. */
function onlyProperty(schema: JsonObject | undefined): string | undefined {
  const properties = schema?.["properties"];
  const [name, ...others] = isObject(properties) ? Object.keys(properties) : [];
  return others.length === 0 ? name : undefined;
}

function textField(given: JsonObject | undefined, name: string): string {
  const value = given?.[name];
  return typeof value === "string" ? value : "";
}

function objectField(given: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = given?.[name];
  return isObject(value) ? value : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(message: string): RequestMalformedError {
  return new RequestMalformedError({ message });
}
