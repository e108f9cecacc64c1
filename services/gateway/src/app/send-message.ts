import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import { commitForeign, ended } from "@reeve/log/commit-foreign";
import type { RunHead } from "@reeve/log/run-head";
import { isTerminal, messageOf } from "@reeve/log/run-head";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { noSuchRun, runKeyOf } from "./read-run.ts";

export interface SentMessage {
  readonly messageId: string;
  /** Its place in the log. */
  readonly sequence: number;
}

/**
 * Sends a message into a run. The same id again is answered as the first time, and sends nothing; with another text it is
 * refused.
 */
export async function sendMessage(
  ports: Pick<GatewayPorts, "log" | "dispatch">,
  { tenant, subject }: Principal,
  request: { readonly runId: string; readonly text: string; readonly messageId: string },
  signal: AbortSignal,
): Promise<SentMessage> {
  const { runId, text } = request;
  // The contract's pattern knows only the blanks of ASCII.
  if (text.trim() === "") throw wordless(runId);
  const messageId = request.messageId === "" ? randomUUID() : request.messageId;
  const key = runKeyOf(tenant, runId);
  const message = create(MessageSchema, { role: Role.USER, text });
  const head = await commitForeign(
    ports,
    key,
    (before) => {
      if (before.created === undefined) throw noSuchRun(runId);
      if (hasSent(before, messageId, text)) return [];
      if (isTerminal(before.status)) throw ended(key, before);
      assertRoom(before, text);
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
    `message id ${messageId} was used in run ${head.runId} with another text; choose a new id`,
    { metadata: { run_id: head.runId } },
  );
}

/** What may wait in a run for its next step: beyond that nobody is reading. */
const mostUntaken = 100;
const mostUntakenBytes = 2 * 1024 * 1024;

function assertRoom({ runId, untaken }: RunHead, text: string): void {
  const bytes =
    [...untaken.values()].reduce((sum, size) => sum + size, 0) + Buffer.byteLength(text);
  if (untaken.size < mostUntaken && bytes <= mostUntakenBytes) return;
  throw new Failure(
    "exhausted",
    ErrorReason.INBOX_FULL,
    `${untaken.size} messages wait in run ${runId} for its next step, and at most ${mostUntaken} with ${mostUntakenBytes} bytes may; send this one when some were taken up`,
    { metadata: { run_id: runId } },
  );
}

function wordless(runId: string): Failure {
  const message = `a message to run ${runId} must say something; it has only blanks`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "text", description: "has only blanks", reason: "EMPTY" }],
  });
}
