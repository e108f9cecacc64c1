import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolCall, ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { resultFact, startedFact, unknownOutcome } from "./journal-facts.ts";

/** What is to be done with a delivery: execute the call, or nothing because somebody else did or does. */
export type Claim = { readonly kind: "ours"; readonly tail: Tail } | { readonly kind: "settled" };

const maxStarts = 3;
const maxAttempts = 20;

/**
 * Decides by the journal who executes the call. A host extends its delivery while it lives, so that a redelivery of the
 * very message by which a call was started means that its host fell silent: the call is made again where that does no
 * harm, else its outcome is unknown. Any other delivery of a call that has started means nothing, unless the message by
 * which it was started is gone, so that no redelivery would ever tell.
 */
export async function claimCall(
  { message, sequence }: Delivery<ToolCallRequest>,
  key: CallKey,
  call: ToolCall,
  { journal, requests, host }: Pick<ToolhostPorts, "journal" | "requests" | "host">,
  signal: AbortSignal,
): Promise<Claim> {
  let tail = emptyTail;
  let facts: readonly ToolCallFact[] = [];
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const takeover = facts.length > 0;
    const begins = facts.filter((known) => known.fact.case === "started");
    if (facts.some(isLast)) return { kind: "settled" };
    const startedBy = startOf(begins);
    if (takeover && startedBy !== sequence && (await requests.holds(startedBy, signal))) {
      return { kind: "settled" };
    }
    const again = !takeover || (message.idempotent && begins.length < maxStarts);
    const next = again ? startedFact(host, sequence) : unknown(call, begins);
    const appended = await journal.append(key, tail, [next], signal);
    if (appended.kind === "appended") {
      return again ? { kind: "ours", tail: appended.tail } : { kind: "settled" };
    }
    const known = await journal.read(key, tail, signal);
    facts = [...facts, ...known.events];
    ({ tail } = known);
  }
  throw new Error(`call ${key.call} could not be claimed: others wrote first each time`);
}

export function isLast({ fact: { case: kind } }: ToolCallFact): boolean {
  return kind === "result" || kind === "cancelled";
}

/** Place of the message by which the call was last started; 0: it is none of the queue's. */
function startOf(begins: readonly ToolCallFact[]): number {
  const last = begins.at(-1)?.fact;
  return last?.case === "started" ? Number(last.value.requestSequence) : 0;
}

function unknown(call: ToolCall, begins: readonly ToolCallFact[]): ToolCallFact {
  const why =
    begins.length < maxStarts
      ? "the toolhost that ran it is gone"
      : `${begins.length} toolhosts that ran it are gone`;
  return resultFact(call, unknownOutcome(why), begins[0]?.time ?? timestampNow());
}
