import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { Message } from "@reeve/contracts/thread";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { appendExternal, runHasEnded } from "@reeve/run/commands/append-external";
import { assertInboxRoom, assertNotBlank } from "@reeve/run/commands/message-limits";
import type { RunHead } from "@reeve/run/head/run-head";
import { messageOf } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import { isSameParts } from "@reeve/run/parts/same-parts";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { assertOwnMemories } from "./memories-of-others.ts";
import type { PartsPorts } from "./parts/message-parts.ts";
import { partsToSend } from "./parts/message-parts.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";

export interface SentMessage {
  readonly messageId: string;
  /** The sequence of its event in the log of the run. */
  readonly sequence: number;
}

interface MessageToSend {
  readonly runId: string;
  readonly text: string;
  readonly messageId: string;
  /** Parts after the text. Default: none. */
  readonly parts?: readonly ContentPart[];
}

/**
 * Sends a message to a run. Idempotent by message id: repeating the request returns the first result and sends nothing; the
 * same id with another content is refused. Throws a Failure of kind `denied` if the run has the memories of another user.
 */
export async function sendMessage(
  ports: Pick<GatewayPorts, "log" | "dispatch"> & PartsPorts,
  principal: Principal,
  request: MessageToSend,
  signal: AbortSignal,
): Promise<SentMessage> {
  const { runId, text, parts: given = [] } = request;
  assertNotBlank(runId, text);
  const messageId = request.messageId === "" ? randomUUID() : request.messageId;
  const key = runKeyOf(principal.tenant, runId);
  const check = (before: RunHead, message: Message) =>
    hasSent(before, messageId, message) || assertAccepts(key, before, principal, message);
  const parts =
    given.length === 0
      ? []
      : await partsToSend(ports, principal, key, { text, parts: given, check }, signal);
  const message = create(MessageSchema, { role: Role.USER, text, parts: [...parts] });
  const head = await appendExternal(
    ports,
    key,
    (before) => {
      if (check(before, message)) return [];
      const value = { messageId, message, submittedBy: principal.subject };
      return [{ case: "messageSubmitted", value }];
    },
    signal,
  );
  return { messageId, sequence: messageOf(head, messageId)?.sequence ?? head.lastSequence };
}

/** Throws a Failure if a run does not take a message. Returns false: it was not sent before. */
function assertAccepts(
  key: RunKey,
  before: RunHead,
  { subject }: Principal,
  message: Message,
): false {
  if (before.created === undefined) throw runNotFound(key.run);
  // Its tools would read and change the memories as the sender asks.
  assertOwnMemories(before, subject, "send it a message");
  if (isTerminal(before.status)) throw runHasEnded(key, before);
  assertInboxRoom(before, message);
  return false;
}

/** Whether a run has the message already. Throws a Failure if it has another message of this id. */
function hasSent(head: RunHead, messageId: string, { text, parts }: Message): boolean {
  const sent = messageOf(head, messageId);
  if (sent === undefined) return false;
  if (sent.text === text && isSameParts(sent.parts, parts)) return true;
  const what = sent.text === text ? "other parts" : "another text";
  throw new Failure(
    "exists",
    ErrorReason.REQUEST_ID_REUSED,
    `message id ${messageId} was already used in run ${head.runId} with ${what}; use a new id`,
    { metadata: { run_id: head.runId } },
  );
}
