// The claim of a call, decided by its journal. Invariants, each with the test that enforces it:
//
// C1. A host executes a call only after it has appended a CallStarted that names it to the whole journal, so of several
//     claimants one succeeds. (breakages.test.ts: "journals follow no tail" finds a protocol without this.)
// C2. A call that has a result or a cancellation is never started again. (claim-call.test.ts: "has its result already";
//     execute-call.test.ts: "is not executed when it was cancelled before")
// C3. A started call is claimed again only when its execution is lost: its host is gone, or says that it does not execute it.
//     A redelivery of the message that started it proves nothing, because a host that was paused or cut off lives on; neither
//     does a queue that seems to have lost that message. (claim-call.test.ts: "is left to its host, which executes it", "is
//     returned when its host cannot be asked now", "by another message is left to its host ..."; breakages.test.ts: "a
//     toolhost asks no host" finds a protocol without this.)
// C4. A call that is not idempotent is started at most once. When its execution is lost, the next claimant records that the
//     outcome is unknown. So does a claimant without a journal, when one may have expired. (claim-call.test.ts: "after its host
//     fell silent has an unknown outcome"; journal-may-have-expired.test.ts: "is not executed again, because its outcome is
//     unknown")
// C5. An idempotent call is started at most three times. (claim-call.test.ts: "that took down every host is not executed
//     forever")
// C6. A host that finds the CallStarted of another host after its own ends its execution and records nothing more.
//     (claim-call.test.ts: "to another host is left to that host")
// C7. A call without a journal whose run has ended, or was deleted, is not started: the deletion of a run removes the journals
//     of its calls, and a request may be delivered after it. (claim-call.test.ts: "of a run that is over is not executed")
// C8. A host that lacks the tool of a call, or cannot reach what executes it, returns the call to its queue, or to
//     its pool if it was forwarded and has not started, up to 90 times in all. Only then it fails; one that had started has an
//     unknown outcome. (missing-tool.test.ts, forwarded-missing-tool.test.ts)
import { equals } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolCall, ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import type { AppendOutcome, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import { callableTool } from "../execute/callable-tool.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import { resultFact, startedFact, unknownOutcome } from "./journal-facts.ts";
import { journalMayHaveExpired } from "./journal-may-have-expired.ts";

/**
 * What to do with a delivery: execute the call; acknowledge it, because the call has ended or another message leads to it; leave
 * it to the host that executes the call; or return it, because that host cannot be asked now, or the tool cannot be called here
 * now.
 */
export type CallClaim =
  | { readonly kind: "claimed"; readonly tail: Tail }
  | { readonly kind: "settled" }
  | { readonly kind: "elsewhere" }
  | { readonly kind: "later" };

type ClaimPorts = Pick<
  CallPorts,
  "journal" | "isRunOver" | "requests" | "executions" | "toolbox" | "host" | "clock" | "wallClock"
>;

const maxStarts = 3;
/**
 * How many times a call is delivered, by all of its messages, while its tool cannot be called: for a minute and a half at least, in which an MCP server that
 * was lost is tried about six times.
 */
export const maxWaits = 90;
const maxAttempts = 20;
/** How many times an append that stored nothing is repeated, while the journal can be read, and the delays before. */
const maxAppends = 20;
const appendBackoff = { firstDelayMs: 500, maxDelayMs: 10_000 };

/** Decides whether this host executes a call, and records that in the journal. Throws when the journal cannot be read. */
export async function claimCall(
  { message, sequence, attempt: delivered, isRunOpen }: CallDelivery,
  key: CallKey,
  call: ToolCall,
  ports: ClaimPorts,
  signal: AbortSignal,
): Promise<CallClaim> {
  const { journal, host, wallClock, toolbox } = ports;
  let tail = emptyTail;
  let facts: readonly ToolCallFact[] = [];
  const waited = message.waits + delivered;
  const isCallable = callableTool(call.name, toolbox) !== undefined;
  // Without an append, nothing else shows that the call was cancelled.
  if (!isCallable) ({ events: facts, tail } = await journal.read(key, emptyTail, signal));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const starts = facts.filter((known) => known.fact.case === "started");
    if (facts.some(endsCall)) return { kind: "settled" };
    const left = facts.length === 0 ? undefined : await leave(key, starts, sequence, ports, signal);
    if (left !== undefined) return left;
    const isOpen = facts.length > 0 || isRunOpen?.() === true;
    if (!isOpen && (await ports.isRunOver(key, signal))) return { kind: "settled" };
    const isFirst = facts.length === 0 && !journalMayHaveExpired(message, wallClock.now());
    const isRepeatable = message.idempotent && starts.length < maxStarts;
    if (!isCallable && (isFirst || isRepeatable) && waited <= maxWaits) return { kind: "later" };
    const mayStart = isFirst || (isRepeatable && isCallable);
    const next = mayStart ? startedFact(host, sequence) : unknownResult(call, starts, message);
    const appended = await appendKnown(key, tail, next, ports, signal);
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

/** Returns to whom a started call is left. Undefined: its execution is lost. */
async function leave(
  key: CallKey,
  starts: readonly ToolCallFact[],
  sequence: number,
  { requests, executions }: Pick<CallPorts, "requests" | "executions">,
  signal: AbortSignal,
): Promise<CallClaim | undefined> {
  const last = starts.at(-1)?.fact;
  if (last?.case !== "started") return undefined;
  const { host, requestSequence } = last.value;
  const isOwnMessage = Number(requestSequence) === sequence;
  if (!isOwnMessage && (await requests.holds(Number(requestSequence), signal))) {
    return { kind: "settled" };
  }
  switch (await executions.stateOf({ key, host, askedFor: sequence }, signal)) {
    case "running":
      // The other message is gone. When the host dies as well, the owner of the run publishes the request again.
      return { kind: isOwnMessage ? "elsewhere" : "settled" };
    case "unknown":
      return { kind: "later" };
    case "lost":
      return undefined;
  }
}

/**
 * Appends a fact, and finds out whether it was stored, however long the journal is unavailable: a host that left its own start
 * behind without knowing it could not tell it from one whose execution was lost. Throws when the journal can be read and takes
 * nothing for about two and a half minutes: the request is then delivered again.
 */
async function appendKnown(
  key: CallKey,
  tail: Tail,
  fact: ToolCallFact,
  { journal, clock }: Pick<CallPorts, "journal" | "clock">,
  signal: AbortSignal,
): Promise<AppendOutcome> {
  const read = () => journal.read(key, tail, signal);
  for (let attempt = 1; ; attempt++) {
    try {
      return await journal.append(key, tail, [fact], signal);
    } catch (error) {
      const isUnavailable = error instanceof Failure && error.kind === "unavailable";
      if (!isUnavailable || attempt === maxAppends) throw error;
    }
    const known = await retryUnavailable(read, { maxElapsedMs: Infinity, clock }, signal);
    const last = known.events.at(-1);
    if (last !== undefined) {
      const isStored = equals(ToolCallFactSchema, last, fact);
      return isStored ? { kind: "appended", tail: known.tail } : { kind: "conflict" };
    }
    await clock.sleep(delayAfter(attempt, appendBackoff), signal);
  }
}

function unknownResult(
  call: ToolCall,
  starts: readonly ToolCallFact[],
  { requestedAt }: ToolCallRequest,
): ToolCallFact {
  const startedAt = starts[0]?.time ?? requestedAt ?? timestampNow();
  return resultFact(call, unknownOutcome(whyUnknown(starts.length)), { startedAt });
}

function whyUnknown(starts: number): string {
  if (starts === 0) return "it is so old that the record of its execution may have been deleted";
  return starts < maxStarts
    ? "the toolhost that ran it is gone"
    : `${starts} toolhosts that ran it are gone`;
}
