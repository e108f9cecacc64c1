import { setTimeout as wait } from "node:timers/promises";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Answer, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Tail } from "@reeve/jetstream/log/port";
import type { CallContext } from "../ports/tool.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { callKeyOf } from "../journal/call-key.ts";
import { CallQuestions } from "./call-questions.ts";
import { CallWorkspace } from "./call-workspace.ts";
import { CallWriter } from "../journal/call-writer.ts";
import { claimCall, isLast } from "../journal/claim-call.ts";
import { progressFact, resultFact } from "../journal/journal-facts.ts";
import { offloadResult } from "../results/offload-result.ts";
import { performCall } from "./perform-call.ts";
import type { TakenCall } from "../queue/send-on.ts";
import { sendOn } from "../queue/send-on.ts";

const retryDelayMs = 1_000;
/** How long is waited before a journal is followed again. */
const firstDelayMs = 100;
const longestDelayMs = 10_000;

/**
 * Takes one delivery to the point where its call stands in the journal: its result, or its cancellation. A call that belongs
 * to another host is sent on to it instead. When `signal` aborts, the call is ended and the delivery given back, for another host to decide.
 */
export async function executeCall(
  delivery: TakenCall,
  ports: ToolhostPorts,
  signal: AbortSignal,
): Promise<void> {
  const { call } = delivery.message;
  if (call === undefined) return delivery.acknowledge();
  const key = callKeyOf(delivery.message);
  const heartbeat = setInterval(() => delivery.extend(), ports.heartbeatMs);
  try {
    if (await sendOn(delivery, key, ports, signal)) return;
    const claim = await claimCall(delivery, key, call, ports, signal);
    if (claim.kind === "settled") return delivery.acknowledge();
    const isEnded = await execute(delivery.message, key, claim.tail, ports, signal);
    if (isEnded) delivery.acknowledge();
    else delivery.abandon();
  } catch (error) {
    if (!signal.aborted) ports.log.error({ err: error, callId: key.call }, "call not settled");
    delivery.returnToQueue(signal.aborted ? 0 : retryDelayMs);
  } finally {
    clearInterval(heartbeat);
  }
}

/** Executes a call that is ours. False: another host has taken it over. */
async function execute(
  request: ToolCallRequest,
  key: CallKey,
  tail: Tail,
  ports: ToolhostPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const { call } = request;
  if (call === undefined) return true;
  const startedAt = timestampNow();
  const end = new AbortController();
  const running = AbortSignal.any([signal, end.signal]);
  const writer = new CallWriter(ports.journal, key, tail);
  const questions = new CallQuestions(tail.sequence, (asked, until) => writer.keep(asked, until));
  await using workspace = new CallWorkspace(request, ports.workspaces);
  let isTaken = false;
  const watching = watch(key, tail, ports, running, {
    onEnd: (taken) => {
      isTaken = taken;
      end.abort(new DOMException("the call is not wanted any more", "AbortError"));
    },
    onAnswer: (answer) => questions.take(answer),
  });
  try {
    const report = (progress: Parameters<typeof progressFact>[1]) =>
      writer.report(progressFact(call, progress), running);
    const ask: CallContext["ask"] = (question) => questions.ask(question, running);
    const sandbox = () => workspace.sandbox(running);
    const performed = await performCall(request, ports, { report, ask, sandbox }, running);
    const noted = { ...performed, ...workspace.told };
    const shown = await offloadResult(request, noted, ports, running);
    if (await writer.finish(resultFact(call, shown, startedAt), running)) {
      workspace.settle();
      return true;
    }
    const { events } = await ports.journal.read(key, tail, running);
    return events.some(isLast);
  } catch (error) {
    // Ended from outside: what stands in the journal is the end of it.
    if (end.signal.aborted && !signal.aborted) return !isTaken;
    throw error;
  } finally {
    end.abort(new DOMException("the call is over", "AbortError"));
    await watching;
  }
}

interface Watcher {
  readonly onEnd: (isTaken: boolean) => void;
  readonly onAnswer: (answer: Answer) => void;
}

/**
 * Says when the journal of a running call shows that it is cancelled, or taken over by another host. A journal that is
 * away is followed again from where it was left, for as long as the call runs.
 */
async function watch(
  key: CallKey,
  tail: Tail,
  { journal, host, log }: ToolhostPorts,
  signal: AbortSignal,
  { onEnd, onAnswer }: Watcher,
): Promise<void> {
  let { sequence } = tail;
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    try {
      for await (const stretch of journal.follow(key, sequence, signal)) {
        for (const event of stretch.events) {
          if (event.fact.case === "started" && event.fact.value.host !== host) return onEnd(true);
          if (event.fact.case === "cancelled") return onEnd(false);
          if (event.fact.case === "answer") onAnswer(event.fact.value);
          if (isLast(event)) return;
        }
        ({ sequence } = stretch.tail);
        delayMs = firstDelayMs;
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, callId: key.call }, "call cannot be followed");
    }
    await wait(delayMs, undefined, { signal }).catch(() => undefined);
    delayMs = Math.min(delayMs * 2, longestDelayMs);
  }
}
