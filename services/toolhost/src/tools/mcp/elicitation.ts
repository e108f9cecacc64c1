import type { JsonObject } from "@bufbuild/protobuf";
import type { ElicitRequest, ElicitResult, InputRequests } from "@modelcontextprotocol/client";
import { isStorable } from "@reeve/contracts/nesting";
import { fitsMessage } from "@reeve/calls/results/record-size";
import type { Question, Answer } from "@reeve/calls/ports/tool";

/** Bytes of what a server may ask for: it is kept in the log of the run. */
const maxSchemaBytes = 16_384;

/** Asks a person on behalf of a call. */
export type Ask = (question: Question) => Promise<Answer>;

/** Has a person answer what a server asks by a form. What else servers ask of clients is declined. */
export async function elicit(
  server: string,
  params: ElicitRequest["params"],
  ask: Ask,
): Promise<ElicitResult> {
  if (!("requestedSchema" in params)) return { action: "decline" };
  // It came as JSON, so it is nothing else.
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
 * Answers all that a server needs before it goes on with a call. Undefined: it needs something that we do not give, or
 * nothing that anybody could.
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
