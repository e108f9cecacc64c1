import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";

/** How many times the toolhost may append first before the command fails. */
const maxAttempts = 50;

/**
 * Cancels a tool call: a call that waits never starts, and the toolhost ends a call in progress. A call that has its result
 * or is cancelled already stays as it is.
 */
export async function cancelCall(
  journal: Pick<CallJournal, "read" | "append">,
  key: CallKey,
  { reason, time }: { readonly reason: string; readonly time: Timestamp },
  signal: AbortSignal,
): Promise<void> {
  const cancelled = create(ToolCallFactSchema, {
    time,
    fact: { case: "cancelled", value: { reason } },
  });
  let tail = emptyTail;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const known = await journal.read(key, tail, signal);
    if (known.events.some(({ fact: { case: kind } }) => kind === "result" || kind === "cancelled"))
      return;
    tail = known.tail;
    const outcome = await journal.append(key, tail, [cancelled], signal);
    if (outcome.kind === "appended") return;
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `call ${key.call} was not cancelled: its toolhost wrote to the journal first in all ${maxAttempts} attempts; try again`,
  );
}
