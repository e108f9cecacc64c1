import { ErrorReason } from "@reeve/contracts/error";
import type { Message } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../head/run-head.ts";
import { recordedBytesOf } from "../parts/part-note.ts";

/** Throws a Failure for a message without text. */
export function assertNotBlank(runId: string, text: string): void {
  // The pattern of the contract covers only ASCII whitespace.
  if (text.trim() !== "") return;
  const message = `the message to run ${runId} is blank; send some text`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "text", description: "is blank", reason: "EMPTY" }],
  });
}

/** Limits of the messages that wait in a run for its next step. */
const maxPending = 100;
const maxPendingBytes = 2 * 1024 * 1024;

/** Throws a Failure for a message that exceeds the limits of the messages that wait in the run, or if the run takes none. */
export function assertInboxRoom(
  { runId, pendingMessages, created }: RunHead,
  message: Pick<Message, "text" | "parts">,
): void {
  if (created?.spec?.workflow !== undefined) throw takesNoMessages(runId);
  const waiting = [...pendingMessages.values()].reduce(
    (sum, { message: pending }) => sum + recordedBytesOf(pending),
    0,
  );
  if (pendingMessages.size < maxPending && waiting + recordedBytesOf(message) <= maxPendingBytes)
    return;
  throw new Failure(
    "exhausted",
    ErrorReason.INBOX_FULL,
    `run ${runId} has ${pendingMessages.size} pending messages; its limit is ${maxPending} messages and ${maxPendingBytes} bytes; try again after its next step`,
    { metadata: { run_id: runId } },
  );
}

/** The graph of a workflow has no place for a message that arrives later. */
function takesNoMessages(runId: string): Failure {
  const message = `run ${runId} executes a workflow, which takes no messages; start another run with the message`;
  return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message, {
    metadata: { run_id: runId },
  });
}
