import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import {
  CallStartedSchema,
  ToolCallFactSchema,
  ToolResultSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/log/call-journal";
import type { Tail } from "@reeve/log/log";
import { emptyTail } from "@reeve/log/log";
import type { HostPorts } from "./host-ports.ts";

type Fact = NonNullable<ToolCallFact["fact"]["case"]>;

/** What a delivery of a call comes to. */
export type Ownership =
  /** The call is ours: to be executed, and its facts to be written after `tail`. */
  | { readonly kind: "ours"; readonly tail: Tail }
  /** There is nothing to do: it has a result, was cancelled, or another host works on it. */
  | { readonly kind: "settled" };

const mostAttempts = 10;
/** How often an idempotent call is started before it is given up. */
const mostStarts = 3;

/** A fact of a journal, with its time. */
export function journalFact(
  fact: Exclude<ToolCallFact["fact"], { case: undefined }>,
): ToolCallFact {
  return create(ToolCallFactSchema, { time: timestampNow(), fact });
}

/**
 * Takes a call by the first fact of its journal. A call that has started is taken over only when the very message by which
 * it was taken is delivered again, which means that its host fell silent: it is executed again if the tool permits that,
 * and ends with an unknown outcome otherwise.
 */
export async function ownCall(
  { journal, host }: Pick<HostPorts, "journal" | "host">,
  key: CallKey,
  request: ToolCallRequest,
  requestSequence: number,
  signal: AbortSignal,
): Promise<Ownership> {
  const value = create(CallStartedSchema, { host, requestSequence: BigInt(requestSequence) });
  const started = journalFact({ case: "started", value });
  let tail = emptyTail;
  let known: readonly ToolCallFact[] = [];
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (has(known, "result") || has(known, "cancelled")) return { kind: "settled" };
    const starts = known.filter(({ fact }) => fact.case === "started");
    const last = starts.at(-1);
    if (
      last?.fact.case === "started" &&
      last.fact.value.requestSequence !== value.requestSequence
    ) {
      return { kind: "settled" };
    }
    // A call that takes its hosts down with it must not go on for ever.
    const mayStart = last === undefined || (request.idempotent && starts.length < mostStarts);
    const next = mayStart ? started : unknownOutcome(request);
    const outcome = await journal.append(key, tail, [next], signal);
    if (outcome.kind === "appended") {
      return next === started ? { kind: "ours", tail: outcome.tail } : { kind: "settled" };
    }
    const missed = await journal.read(key, tail, signal);
    known = [...known, ...missed.events];
    ({ tail } = missed);
  }
  throw new Error(`journal of call ${key.call} changes all the time`);
}

function has(facts: readonly ToolCallFact[], kind: Fact): boolean {
  return facts.some(({ fact }) => fact.case === kind);
}

function unknownOutcome({ call }: ToolCallRequest): ToolCallFact {
  return journalFact({
    case: "result",
    value: create(ToolResultSchema, {
      callId: call?.callId ?? "",
      name: call?.name ?? "",
      content:
        "the outcome of this call is unknown: the host that executed it was lost; it may or may not have taken effect, so look before you call again",
      isError: true,
      metadata: { status: ToolStatus.ERROR, endReason: "sandbox_lost" },
    }),
  });
}
