// The claim of a call, decided by its journal. Invariants, each with the test that enforces it:
//
// C1. A host executes a call only after it has appended a CallStarted that names it to the whole journal, so of several
//     claimants one succeeds. (breakages.test.ts: "journals follow no tail" finds a protocol without this.)
// C2. A call that has a result or a cancellation is never started again. (claim-call.test.ts: "has its result already";
//     execute-call.test.ts: "is not executed when it was cancelled before")
// C3. A started call is claimed again only by a redelivery of the message that started it, because its host extends that
//     delivery while it lives, or when the queue no longer holds that message. (claim-call.test.ts: "by another message has no
//     effect", "by another message takes it over when the queue lost the message that started it"; breakages.test.ts: "a
//     toolhost sees no requests" finds a protocol without this.)
// C4. A call that is not idempotent is started at most once. When its host fell silent, the next claimant records that the
//     outcome is unknown. (claim-call.test.ts: "after its host fell silent has an unknown outcome")
// C5. An idempotent call is started at most three times. (claim-call.test.ts: "that took down every host is not executed
//     forever")
// C6. A host that finds the CallStarted of another host after its own ends its execution and records nothing more.
//     (claim-call.test.ts: "to another host is left to that host")
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolCall, ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { CallPorts } from "../ports/call-ports.ts";
import { resultFact, startedFact, unknownOutcome } from "./journal-facts.ts";

/** What to do with a delivery: execute the call, or nothing, because another party has ended it or executes it. */
export type CallClaim =
  { readonly kind: "claimed"; readonly tail: Tail } | { readonly kind: "settled" };

const maxStarts = 3;
const maxAttempts = 20;

/** Decides whether this host executes a call, and records that in the journal. Throws when the journal is unavailable. */
export async function claimCall(
  { message, sequence }: Delivery<ToolCallRequest>,
  key: CallKey,
  call: ToolCall,
  { journal, requests, host }: Pick<CallPorts, "journal" | "requests" | "host">,
  signal: AbortSignal,
): Promise<CallClaim> {
  let tail = emptyTail;
  let facts: readonly ToolCallFact[] = [];
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const isTakeover = facts.length > 0;
    const starts = facts.filter((known) => known.fact.case === "started");
    if (facts.some(endsCall)) return { kind: "settled" };
    const startedBy = requestOf(starts);
    if (isTakeover && startedBy !== sequence && (await requests.holds(startedBy, signal))) {
      return { kind: "settled" };
    }
    const mayStart = !isTakeover || (message.idempotent && starts.length < maxStarts);
    const next = mayStart ? startedFact(host, sequence) : unknownResult(call, starts);
    const appended = await journal.append(key, tail, [next], signal);
    if (appended.kind === "appended") {
      return mayStart ? { kind: "claimed", tail: appended.tail } : { kind: "settled" };
    }
    const known = await journal.read(key, tail, signal);
    facts = [...facts, ...known.events];
    ({ tail } = known);
  }
  throw new Error(
    `call ${key.call} was not claimed: others wrote to its journal ${maxAttempts} times`,
  );
}

/** Returns the sequence of the request that last started the call. 0: no request of the queue did. */
function requestOf(starts: readonly ToolCallFact[]): number {
  const last = starts.at(-1)?.fact;
  return last?.case === "started" ? Number(last.value.requestSequence) : 0;
}

function unknownResult(call: ToolCall, starts: readonly ToolCallFact[]): ToolCallFact {
  const why =
    starts.length < maxStarts
      ? "the toolhost that ran it is gone"
      : `${starts.length} toolhosts that ran it are gone`;
  return resultFact(call, unknownOutcome(why), { startedAt: starts[0]?.time ?? timestampNow() });
}
