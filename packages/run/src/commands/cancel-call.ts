import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";

/** How often a journal is tried again when its toolhost writes at the same time. */
const maxAttempts = 50;

/**
 * Withdraws a call: one that waits never starts, one under way is ended by its toolhost. One that has come to its end, or
 * was withdrawn before, stays as it is.
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
    `call ${key.call} could not be cancelled: its toolhost wrote first each time`,
  );
}
