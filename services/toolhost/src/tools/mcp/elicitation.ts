import type { JsonObject } from "@bufbuild/protobuf";
import type { ElicitRequest, ElicitResult, InputRequests } from "@modelcontextprotocol/client";
import type { Answer, Question } from "@reeve/calls/ports/tool";
import { fitsMessage } from "@reeve/calls/results/record-size";
import { isStorable } from "@reeve/contracts/rules/nesting";

/** Bytes of the schema that a server may ask for, which is stored in the log of the run. */
const maxSchemaBytes = 16_384;

/** Asks a person on behalf of a call. */
export type Ask = (question: Question) => Promise<Answer>;

/** Has a person fill in the form that a server requests. Declines all other kinds of elicitation. */
export async function elicit(
  server: string,
  params: ElicitRequest["params"],
  ask: Ask,
): Promise<ElicitResult> {
  if (!("requestedSchema" in params)) return { action: "decline" };
  // It was parsed from JSON, so it is a JSON object.
  const schema = params.requestedSchema as unknown as JsonObject;
  if (!isStorable(schema) || !fitsMessage(schema, maxSchemaBytes)) return { action: "decline" };
  const answer = await ask({
    message: params.message,
    schema,
    askedBy: `mcp:${server}`,
  });
  switch (answer.kind) {
    case "accepted":
      return { action: "accept", content: answer.content as NonNullable<ElicitResult["content"]> };
    case "declined":
      return { action: "decline" };
    case "cancelled":
      return { action: "cancel" };
  }
}

/**
 * Answers all requests that a server makes before it continues with a call. Returns undefined when one of them is of a kind that
 * is not supported, or when nobody can be asked.
 */
export async function answersTo(
  server: string,
  requests: InputRequests | undefined,
  ask: Ask | undefined,
): Promise<Record<string, ElicitResult> | undefined> {
  const answers: Record<string, ElicitResult> = {};
  for (const [key, request] of Object.entries(requests ?? {})) {
    if (request.method !== "elicitation/create" || ask === undefined) return undefined;
    answers[key] = await elicit(server, request.params, ask);
  }
  return answers;
}
