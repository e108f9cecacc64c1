import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  OfferToolsRequest,
  OfferToolsResponseSchema,
  ToolDescriptor,
} from "@reeve/contracts/tool";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Mailbox } from "@reeve/platform/async/coordination/mailbox";
import type { Principal } from "@reeve/platform/rpc/principal";
import { isOfClient } from "@reeve/run/client-calls/is-of-client";
import type { ClientIdentity } from "@reeve/run/client-calls/take-call";
import { takeCall } from "@reeve/run/client-calls/take-call";
import { runHasEnded } from "@reeve/run/commands/append-external";
import type { KnownClientCall } from "@reeve/run/head/client-calls";
import { hasEnded } from "@reeve/run/head/client-calls";
import { isTerminal } from "@reeve/run/head/run-status";
import type { GatewayPorts } from "../gateway-ports.ts";
import { assertOwnMemories, hasMemoriesOfAnother } from "../memories-of-others.ts";
import { readRun, runKeyOf } from "../read-run.ts";
import type { OfferTarget, TargetChange } from "./follow-target.ts";
import { followTarget } from "./follow-target.ts";
import { keepOffer, offerReplaced } from "./keep-offer.ts";
import { manifestTools } from "./manifest-tools.ts";
import { isSameTool, runScope, threadScope } from "./offered-tools.ts";
import type { RunCalls } from "./run-calls.ts";
import type { HeldOffer } from "./tool-offers.ts";

/** A message of the stream of a client. */
export type OfferMessage = MessageInitShape<typeof OfferToolsResponseSchema>;

type Ending = { readonly kind: "over" } | { readonly kind: "failed"; readonly error: unknown };

/** A client that has a stream. */
interface ConnectedClient {
  readonly identity: ClientIdentity;
  readonly tools: readonly ToolDescriptor[];
  readonly offer: HeldOffer;
  /** The calls that this stream has sent and that may still be answered, with their runs. */
  readonly sent: Map<string, RunKey>;
}

/**
 * Offers the tools of a client until `signal` aborts, and yields their calls. A call is recorded as taken by the client before it is
 * yielded, so that no other client gets it; calls that the client took through an earlier stream are yielded again. `streamId` is
 * unique. Ends when the run or the thread is over. Throws a Failure of kind `conflict` when the client opens another stream.
 */
export async function* offerTools(
  ports: GatewayPorts,
  { tenant, subject }: Principal,
  request: OfferToolsRequest,
  streamId: string,
  signal: AbortSignal,
): AsyncIterable<OfferMessage> {
  const { manifest } = request;
  const clientId = manifest?.clientId ?? "";
  const { offers, classes } = ports.clientTools;
  const tools =
    manifest === undefined ? [] : await manifestTools(manifest, "manifest", classes, signal);
  ports.assertRoom();
  const target = targetOf(request);
  const warnings = await openTarget(ports, { tenant, subject }, target, tools, signal);
  const scope = target.kind === "run" ? runScope(target.runId) : threadScope(target.threadId);
  const offer = await offers.open(
    { tenant, scope, clientId, subject, streamId, tools: [...tools] },
    signal,
  );
  yield { event: { case: "ready", value: { warnings: [...warnings] } } };
  const client = { identity: { clientId, subject }, tools, offer, sent: new Map<string, RunKey>() };
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  // What waits for a slow client: the last state of each run, which has all of its calls.
  const changes = new Map<string, TargetChange>();
  const endings: Ending[] = [];
  using changed = new Mailbox<"changed">(1);
  const endWith = (ending: Ending) => {
    endings.push(ending);
    changed.post("changed");
  };
  const report = (change: TargetChange) => {
    changes.set(change.key.run, change);
    changed.post("changed");
  };
  const fail = (error: unknown) => endWith({ kind: "failed", error });
  using _ = keepOffer(offer, { clientId, now: ports.clientTools.now }, fail, until);
  const over = () => endWith({ kind: "over" });
  const followed = followTarget(ports, tenant, target, report, until).then(over, fail);
  try {
    for (;;) {
      await changed.take(until);
      for (const [run, change] of changes) {
        changes.delete(run);
        if (change.kind === "run_over") yield* closeCalls(client, change.key);
        else yield* callsFor(client, change.key, change.calls, ports, until);
      }
      const [ending] = endings;
      if (ending?.kind === "failed") throw ending.error;
      if (ending !== undefined) return;
    }
  } finally {
    end.abort(new DOMException("the stream of the client ended", "AbortError"));
    await followed;
  }
}

function targetOf({ target }: OfferToolsRequest): OfferTarget {
  return target.case === "runId"
    ? { kind: "run", runId: target.value }
    : { kind: "thread", threadId: target.value ?? "" };
}

/** Returns why a run does not have some of the tools. Throws a Failure if the run does not exist, has ended, or belongs to another user. */
async function openTarget(
  ports: GatewayPorts,
  { tenant, subject }: Principal,
  target: OfferTarget,
  tools: readonly ToolDescriptor[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (target.kind === "thread") return [];
  const key = runKeyOf(tenant, target.runId);
  const head = await readRun(ports.log, key, signal);
  assertOwnMemories(head, subject, "answer calls of its tools");
  if (isTerminal(head.status)) throw runHasEnded(key, head);
  const pinned = head.created?.offeredTools ?? [];
  // Until a worker has prepared the run, only the response of its start says what else it lacks.
  const prepared = head.prepared?.tools;
  return tools.flatMap((tool) => {
    const { name } = tool;
    if (!pinned.some((each) => isSameTool(each, tool))) {
      const reason = "it was started without it, or with another definition";
      return [`run ${key.run} does not have the tool ${name}: ${reason}`];
    }
    if (prepared === undefined || prepared.some((each) => each.name === name)) return [];
    const reason = "its agent, the operator's policy, or a tool of the deployment excludes it";
    return [`run ${key.run} does not have the tool ${name}: ${reason}`];
  });
}

async function* callsFor(
  { identity, tools, offer, sent }: ConnectedClient,
  key: RunKey,
  { created, calls, isEnded, latest }: RunCalls,
  ports: GatewayPorts,
  signal: AbortSignal,
): AsyncIterable<OfferMessage> {
  const nowMs = ports.clientTools.now();
  // A client may have another version of a tool since it took a call: it is the only one that can answer.
  const hasName = (name: string) => tools.some((each) => each.name === name);
  const isOffered = (name: string) => {
    const pinned = created.offeredTools.find((each) => each.name === name);
    return pinned !== undefined && tools.some((each) => isSameTool(each, pinned));
  };
  for (const call of calls.values()) {
    const { callId } = call;
    if (hasEnded(call) || isEnded) {
      if (sent.delete(callId)) yield closedCall(key, callId);
      continue;
    }
    if (sent.has(callId) || call.deadlineMs <= nowMs) continue;
    const isRepeated = call.state === "taken";
    if (isRepeated ? !hasName(call.name) : !isOffered(call.name)) continue;
    if (isRepeated && !isOfClient(call, identity)) continue;
    if (hasMemoriesOfAnother(created, identity.subject)) continue;
    if (offer.isReplaced()) throw offerReplaced(identity.clientId);
    const seen = latest();
    // Another client may have taken it while this one took another call. The change that says so follows.
    if (!isRepeated && seen.head.clientCalls.get(callId)?.state !== "open") continue;
    const taken = isRepeated
      ? call
      : await takeCall({ ...ports, seen }, key, callId, identity, signal);
    if (taken === undefined) continue;
    sent.set(callId, key);
    yield offeredCall(key, taken, isRepeated);
  }
}

function* closeCalls({ sent }: ConnectedClient, { run }: RunKey): Iterable<OfferMessage> {
  for (const [callId, key] of sent) {
    if (key.run !== run) continue;
    sent.delete(callId);
    yield closedCall(key, callId);
  }
}

function offeredCall(
  { run }: RunKey,
  { callId, name, arguments: args, deadlineMs }: KnownClientCall,
  repeatedDelivery: boolean,
): OfferMessage {
  const deadline = timestampFromMs(deadlineMs);
  const value = { runId: run, callId, name, arguments: args, deadline, repeatedDelivery };
  return { event: { case: "call", value } };
}

function closedCall({ run }: RunKey, callId: string): OfferMessage {
  return { event: { case: "closed", value: { runId: run, callId } } };
}
