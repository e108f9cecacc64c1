import type { JsonObject } from "@bufbuild/protobuf";
import { answerProblems } from "@reeve/agent/schema/answer-problems";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";
import { ErrorReason } from "@reeve/contracts/error";
import { ClientCallState } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal, runHasEnded } from "../commands/append-external.ts";
import type { KnownClientCall } from "../head/client-calls.ts";
import type { RunHead } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";
import { isOfClient } from "./is-of-client.ts";
import type { ClientIdentity } from "./take-call.ts";

/** What a client answers. */
export type ClientAnswer =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "structured"; readonly structured: JsonObject }
  | { readonly kind: "error"; readonly error: string };

/** An answer of a client to a call. */
export interface AnsweredCall {
  readonly callId: string;
  readonly client: ClientIdentity;
  readonly answer: ClientAnswer;
}

export interface AnswerCallPorts extends AppendExternalPorts {
  /** The time, in milliseconds since the epoch. */
  now(): number;
}

/**
 * Records the answer of a client to a call that it has taken. The first answer counts: repeating it changes nothing, and another one
 * is refused with the reason CALL_ANSWERED. Throws a Failure if the call does not exist, belongs to another client, or needs no answer
 * anymore, and if the `output_schema` of the tool forbids the answer; the call then stays open. Before anything is written, `assertMay`
 * may refuse the client.
 */
export async function answerCall(
  ports: AnswerCallPorts,
  key: RunKey,
  { callId, client, answer }: AnsweredCall,
  assertMay: (head: RunHead) => void,
  signal: AbortSignal,
): Promise<void> {
  const answerDigest = digestOf(answer);
  await appendExternal(
    ports,
    key,
    (before) => {
      assertMay(before);
      const call = before.clientCalls.get(callId);
      if (call === undefined) throw callNotFound(key, callId);
      assertOwn(key, call, client);
      if (call.state === "answered") {
        if (Buffer.compare(call.answerDigest, answerDigest) === 0) return [];
        throw answeredOtherwise(key, callId);
      }
      if (isTerminal(before.status)) throw runHasEnded(key, before);
      if (call.state === "closed" || call.deadlineMs <= ports.now()) throw closed(key, callId);
      assertPermitted(before, call, answer);
      const value = { callId, state: ClientCallState.ANSWERED, ...client, answerDigest };
      return [{ case: "clientCall", value: { ...value, ...contentOf(answer) } }];
    },
    signal,
  );
}

function contentOf(answer: ClientAnswer) {
  switch (answer.kind) {
    case "text":
      return { content: answer.text };
    case "structured":
      return { content: JSON.stringify(answer.structured), structured: answer.structured };
    case "error":
      return { content: answer.error, isError: true };
  }
}

function digestOf(answer: ClientAnswer): Uint8Array {
  return jsonDigest({ ...answer });
}

function assertOwn(key: RunKey, call: KnownClientCall, client: ClientIdentity): void {
  if (isOfClient(call, client)) return;
  const by = call.clientId === "" ? "no client" : "another client, or another person,";
  const message = `${by} has taken call ${call.callId} of run ${key.run}; only the client that received it may answer`;
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, { metadata: ids(key, call) });
}

/** Throws if the tool of a call forbids the answer. */
function assertPermitted(
  { created }: RunHead,
  { name }: KnownClientCall,
  answer: ClientAnswer,
): void {
  const tool = created?.offeredTools.find((each) => each.name === name);
  const schema = tool?.client?.outputSchema;
  if (schema === undefined || answer.kind === "error") return;
  if (answer.kind === "text") {
    throw forbidden(name, [{ field: "text", description: "has to be `structured`" }]);
  }
  const problems = answerProblems(schema, answer.structured);
  if (problems.length === 0) return;
  throw forbidden(
    name,
    problems.map(({ field, description }) => ({ field: inAnswer(field), description })),
  );
}

function inAnswer(field: string): string {
  return field === "" ? "structured" : `structured.${field}`;
}

function forbidden(
  name: string,
  problems: readonly { readonly field: string; readonly description: string }[],
): Failure {
  const list = problems.map(({ field, description }) => `${field} ${description}`).join("; ");
  const message = `the output_schema of ${name} forbids the answer: ${list}; answer again`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: problems.map((each) => ({ ...each, reason: "SCHEMA_MISMATCH" })),
  });
}

function callNotFound(key: RunKey, callId: string): Failure {
  const message = `run ${key.run} has no call ${callId} of a client's tool; answer with the ids of the call that you received`;
  return new Failure("not_found", ErrorReason.CALL_NOT_FOUND, message, {
    metadata: ids(key, { callId }),
  });
}

function answeredOtherwise(key: RunKey, callId: string): Failure {
  const message = `call ${callId} of run ${key.run} was answered with something else; the first answer counts`;
  return new Failure("exists", ErrorReason.CALL_ANSWERED, message, {
    metadata: ids(key, { callId }),
  });
}

function closed(key: RunKey, callId: string): Failure {
  const message = `call ${callId} of run ${key.run} has expired, or needs no answer anymore`;
  return new Failure("precondition", ErrorReason.CALL_CLOSED, message, {
    metadata: ids(key, { callId }),
  });
}

function ids({ run }: RunKey, { callId }: Pick<KnownClientCall, "callId">) {
  return { run_id: run, call_id: callId };
}
