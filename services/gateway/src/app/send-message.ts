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
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { assertOwnMemories } from "./memories-of-others.ts";
import type { PartsPorts } from "./parts/message-parts.ts";
import { partsToSend } from "./parts/message-parts.ts";
import { isSameParts } from "./parts/same-parts.ts";
import { AppendWatch } from "./parts/watch-appends.ts";
import { withStoredParts } from "./parts/with-stored-parts.ts";
import { readRun, runNotFound, runKeyOf } from "./read-run.ts";

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

type SendPorts = Pick<GatewayPorts, "log" | "dispatch"> & PartsPorts;

/**
 * Sends a message to a run. Idempotent by message id: repeating the request returns the first result and sends nothing; the
 * same id with another content is refused. A message that is refused leaves no files. Throws a Failure of kind `denied` if the run has the
 * memories of another user.
 */
export async function sendMessage(
  ports: SendPorts,
  principal: Principal,
  request: MessageToSend,
  signal: AbortSignal,
): Promise<SentMessage> {
  const { runId, text, parts = [] } = request;
  assertNotBlank(runId, text);
  const messageId = request.messageId === "" ? randomUUID() : request.messageId;
  const given: GivenMessage = { text, parts, messageId };
  const key = runKeyOf(principal.tenant, runId);
  const head =
    parts.length === 0
      ? await append(ports, principal, key, { given, recorded: [] }, signal)
      : await sendParts(ports, principal, key, given, signal);
  return { messageId, sequence: messageOf(head, messageId)?.sequence ?? head.lastSequence };
}

type GivenMessage = Required<Omit<MessageToSend, "runId">>;

async function sendParts(
  ports: SendPorts,
  principal: Principal,
  run: RunKey,
  given: GivenMessage,
  signal: AbortSignal,
): Promise<RunHead> {
  const { messageId, text, parts } = given;
  const before = await readRun(ports.log, run, signal);
  // A repeated message is not checked again: its artifacts may have been deleted. It only wakes the run.
  if (hasSent(before, given)) {
    return await append(ports, principal, run, { given, recorded: [] }, signal);
  }
  const key = { ...run, nonce: randomUUID() };
  const check = (message: Message) => assertAccepts(run, before, principal, message);
  const checked = await partsToSend(ports, key, before, { text, parts, check }, signal);
  const refused = new Set<unknown>();
  const onRefused = (error: unknown) => void refused.add(error);
  const message = { given, recorded: checked.parts, onRefused };
  const appends = new AppendWatch();
  return await withStoredParts(
    ports,
    { principal, key, contents: checked.contents },
    {
      append: () =>
        append({ ...ports, log: appends.log(ports.log) }, principal, run, message, signal),
      partsOf: (head) => messageOf(head, messageId)?.parts,
      isRefused: (error) => refused.has(error) || appends.isRefused(error),
    },
    signal,
  );
}

interface MessageToAppend {
  readonly given: GivenMessage;
  /** Its parts as the log records them. */
  readonly recorded: readonly ContentPart[];
  /** Called with the error that refuses the message. */
  readonly onRefused?: (error: unknown) => void;
}

/** Appends a message, unless the run has it. Returns the head of the run with the message. */
async function append(
  ports: SendPorts,
  principal: Principal,
  key: RunKey,
  { given, recorded, onRefused }: MessageToAppend,
  signal: AbortSignal,
): Promise<RunHead> {
  const { messageId, text } = given;
  const message = create(MessageSchema, { role: Role.USER, text, parts: [...recorded] });
  return await appendExternal(
    ports,
    key,
    (before) => {
      try {
        if (hasSent(before, given)) return [];
        assertAccepts(key, before, principal, message);
      } catch (error) {
        onRefused?.(error);
        throw error;
      }
      const value = { messageId, message, submittedBy: principal.subject };
      return [{ case: "messageSubmitted", value }];
    },
    signal,
  );
}

/** Throws a Failure if a run does not take a message. */
function assertAccepts(
  key: RunKey,
  before: RunHead,
  { subject }: Principal,
  message: Message,
): void {
  if (before.created === undefined) throw runNotFound(key.run);
  // Its tools would read and change the memories as the sender asks.
  assertOwnMemories(before, subject, "send it a message");
  if (isTerminal(before.status)) throw runHasEnded(key, before);
  assertInboxRoom(before, message);
}

/** Whether a run has the message already. Throws a Failure if it has another message of this id. */
function hasSent(head: RunHead, { messageId, text, parts }: GivenMessage): boolean {
  const sent = messageOf(head, messageId);
  if (sent === undefined) return false;
  if (sent.text === text && isSameParts(parts, sent.parts)) return true;
  const what = sent.text === text ? "other parts" : "another text";
  throw new Failure(
    "exists",
    ErrorReason.REQUEST_ID_REUSED,
    `message id ${messageId} was already used in run ${head.runId} with ${what}; use a new id`,
    { metadata: { run_id: head.runId } },
  );
}
