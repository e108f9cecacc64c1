import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { MessageSchema, Role } from "@reeve/contracts/thread";
import { commitForeign, ended } from "@reeve/log/commit-foreign";
import { isTerminal } from "@reeve/log/run-head";
import type { Principal } from "@reeve/platform/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { noSuchRun, runKeyOf } from "./read-run.ts";

export interface SentMessage {
  readonly messageId: string;
  /** Its place in the log. */
  readonly sequence: number;
}

/** Sends a message into a run. The same id again is answered as the first time, and sends nothing. */
export async function sendMessage(
  ports: Pick<GatewayPorts, "log" | "dispatch">,
  { tenant, subject }: Principal,
  request: { readonly runId: string; readonly text: string; readonly messageId: string },
  signal: AbortSignal,
): Promise<SentMessage> {
  const { runId, text } = request;
  const messageId = request.messageId === "" ? randomUUID() : request.messageId;
  const key = runKeyOf(tenant, runId);
  const message = create(MessageSchema, { role: Role.USER, text });
  const head = await commitForeign(
    ports,
    key,
    (before) => {
      if (before.created === undefined) throw noSuchRun(runId);
      if (before.messages.has(messageId)) return [];
      if (isTerminal(before.status)) throw ended(key, before);
      return [{ case: "messageSubmitted", value: { messageId, message, submittedBy: subject } }];
    },
    signal,
  );
  return { messageId, sequence: head.messages.get(messageId) ?? head.lastSequence };
}
