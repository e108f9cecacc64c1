import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../head/run-head.ts";

/** Refuses a message that says nothing. */
export function assertNotBlank(runId: string, text: string): void {
  // The pattern of the contract knows only the blanks of ASCII.
  if (text.trim() !== "") return;
  const message = `a message to run ${runId} must say something; it has only blanks`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, {
    violations: [{ field: "text", description: "has only blanks", reason: "EMPTY" }],
  });
}

/** What may wait in a run for its next step: beyond that nobody is reading. */
const maxUntaken = 100;
const maxUntakenBytes = 2 * 1024 * 1024;

/** Refuses a message for which there is no room among those that wait in the run. */
export function assertInboxRoom({ runId, pendingMessages }: RunHead, text: string): void {
  const waiting = [...pendingMessages.values()].reduce(
    (sum, { message }) => sum + Buffer.byteLength(message?.text ?? ""),
    0,
  );
  if (pendingMessages.size < maxUntaken && waiting + Buffer.byteLength(text) <= maxUntakenBytes)
    return;
  throw new Failure(
    "exhausted",
    ErrorReason.INBOX_FULL,
    `${pendingMessages.size} messages wait in run ${runId} for its next step, and at most ${maxUntaken} with ${maxUntakenBytes} bytes may; send this one when some were taken up`,
    { metadata: { run_id: runId } },
  );
}
