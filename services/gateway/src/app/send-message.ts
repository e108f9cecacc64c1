import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import { appendExternal, runHasEnded } from "@reeve/run/commands/append-external";
import { assertInboxRoom, assertNotBlank } from "@reeve/run/commands/message-limits";
import type { RunHead } from "@reeve/run/head/run-head";
import { messageOf } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { assertOwnMemories } from "./memories-of-others.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";

export interface SentMessage {
  readonly messageId: string;
  /** The sequence of its event in the log of the run. */
  readonly sequence: number;
}

/**
 * Sends a message to a run. Idempotent by message id: repeating the request returns the first result and sends nothing; the
 * same id with another text is refused. Throws a Failure of kind `denied` if the run has the memories of another user.
 */
export async function sendMessage(
  ports: Pick<GatewayPorts, "log" | "dispatch">,
  { tenant, subject }: Principal,
  request: { readonly runId: string; readonly text: string; readonly messageId: string },
  signal: AbortSignal,
): Promise<SentMessage> {
  const { runId, text } = request;
  assertNotBlank(runId, text);
  const messageId = request.messageId === "" ? randomUUID() : request.messageId;
  const key = runKeyOf(tenant, runId);
  const message = create(MessageSchema, { role: Role.USER, text });
  const head = await appendExternal(
    ports,
    key,
    (before) => {
      if (before.created === undefined) throw runNotFound(runId);
      if (hasSent(before, messageId, text)) return [];
      // Its tools would read and change the memories as the sender asks.
      assertOwnMemories(before, subject, "send it a message");
      if (isTerminal(before.status)) throw runHasEnded(key, before);
      assertInboxRoom(before, text);
      return [{ case: "messageSubmitted", value: { messageId, message, submittedBy: subject } }];
    },
    signal,
  );
  return { messageId, sequence: messageOf(head, messageId)?.sequence ?? head.lastSequence };
}

function hasSent(head: RunHead, messageId: string, text: string): boolean {
  const sent = messageOf(head, messageId);
  if (sent === undefined || sent.text === text) return sent !== undefined;
  throw new Failure(
    "exists",
    ErrorReason.REQUEST_ID_REUSED,
    `message id ${messageId} was already used in run ${head.runId} with another text; use a new id`,
    { metadata: { run_id: head.runId } },
  );
}
