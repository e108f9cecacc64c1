import { fromJson, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { AnswerToolCallRequest } from "@reeve/contracts/tool";
import { isStorable } from "@reeve/contracts/rules/nesting";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { ClientAnswer } from "@reeve/run/client-calls/answer-call";
import { answerCall } from "@reeve/run/client-calls/answer-call";
import type { GatewayPorts } from "../gateway-ports.ts";
import { assertOwnMemories } from "../memories-of-others.ts";
import { runKeyOf, runNotFound } from "../read-run.ts";

/** The size of a structured answer as JSON: that of a text. */
const maxBytes = 200_000;
/** The size of a structured answer in the log of its run. */
const maxRecordedBytes = 262_144;
/** How deep a structured answer may be nested. */
const maxLevels = 20;

/**
 * Records the answer of a client to a call that it has taken, as `answerCall` does. Throws a Failure of kind `denied` if the run has
 * the memories of another user.
 */
export async function answerToolCall(
  ports: Pick<GatewayPorts, "log" | "dispatch" | "clientTools"> & { onAppended?: () => void },
  { tenant, subject }: Principal,
  request: AnswerToolCallRequest,
  signal: AbortSignal,
): Promise<void> {
  const { runId, callId, clientId } = request;
  const key = runKeyOf(tenant, runId);
  const answered = { callId, client: { clientId, subject }, answer: answerOf(request) };
  const { now } = ports.clientTools;
  await answerCall(
    { ...ports, now },
    key,
    answered,
    (head) => {
      if (head.created === undefined) throw runNotFound(runId);
      assertOwnMemories(head, subject, "answer calls of its tools");
    },
    signal,
  );
}

function answerOf({ answer }: AnswerToolCallRequest): ClientAnswer {
  switch (answer.case) {
    case "structured": {
      const structured = answer.value;
      if (!isStorable(structured, maxLevels)) {
        throw tooLarge(
          `is nested deeper than ${maxLevels} levels, or has a number or text that JSON cannot hold`,
        );
      }
      const bytes = Buffer.byteLength(JSON.stringify(structured));
      if (bytes > maxBytes) throw tooLarge(`has ${bytes} bytes; the limit is ${maxBytes}`);
      // The log has it twice: as JSON, and as an object.
      const recorded = bytes + toBinary(StructSchema, fromJson(StructSchema, structured)).length;
      if (recorded > maxRecordedBytes) {
        throw tooLarge(
          `takes ${recorded} bytes in the log; the limit is ${maxRecordedBytes}; answer with fewer values, or with text`,
        );
      }
      return { kind: "structured", structured };
    }
    case "error":
      return { kind: "error", error: answer.value };
    case "text":
      return { kind: "text", text: answer.value };
    case undefined:
      return { kind: "text", text: "" };
  }
}

function tooLarge(description: string) {
  return invalidRequest([{ field: "structured", description, reason: "TOO_LARGE" }]);
}
