import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Answer, ToolCall, ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import type { LogListener, Tail } from "@reeve/jetstream/log/port";
import { ErrorReason } from "@reeve/contracts/error";
import { outlastOutage } from "@reeve/platform/async/retry/outlast-outage";
import type { Sandbox } from "@reeve/sandbox/port";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { CallWriter } from "../journal/call-writer.ts";
import { progressFact, resultFact } from "../journal/journal-facts.ts";
import { watchCall } from "../journal/watch-call.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { CallContext, CallResult, Progress } from "../ports/tool.ts";
import { offloadResult } from "../results/offload-result.ts";
import { callSettings } from "../settings/tool-settings.ts";
import { changedContent } from "./changed-content.ts";
import { CallQuestions } from "./call-questions.ts";
import { CallWorkspace } from "./call-workspace.ts";
import { argumentCheck } from "./check-arguments.ts";
import { inExecutionSpan } from "./execution-span.ts";

/** A call that this host has claimed. */
export interface ClaimedCall {
  readonly request: ToolCallRequest;
  readonly call: ToolCall;
  readonly key: CallKey;
  /** The end of its journal, after the fact that claims it. */
  readonly tail: Tail;
  /** Receives its journal since before the claim. */
  readonly journal: LogListener<ToolCallFact>;
}

/**
 * How often a workspace may fail to open while the journal answers. The streams of a cluster have different leaders: one may answer
 * while another is missing.
 */
const maxOpenFailures = 6;

/** What a tool may do while its call runs. */
interface CallActions extends Pick<CallContext, "sandbox" | "report" | "ask"> {
  /** Opens the sandbox, and keeps everything else from writing to the workspace until the call has ended. */
  sandboxAlone(): Promise<Sandbox>;
}

/** Shared by all calls, because creating an exception with its stack is expensive. */
const callEnded = new DOMException("the call has ended", "AbortError");

/**
 * Executes a claimed call and records its result. Returns whether the call has ended, by its result or a cancellation; false
 * means that another host has taken it over. Keeps the result until it is recorded, however long the store is unavailable. Throws
 * when `signal` aborts first.
 */
export async function executeCall(
  { request, call, key, tail, journal }: ClaimedCall,
  ports: CallPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const startedAt = timestampNow();
  const end = new AbortController();
  const running = AbortSignal.any([signal, end.signal]);
  journal.skip?.(tail);
  const writer = new CallWriter(ports, { key, tail }, (appended) => journal.skip?.(appended));
  const questions = new CallQuestions(tail.sequence, (fact, until) => writer.write(fact, until));
  const report = (progress: Progress) =>
    writer.writeProgress(progressFact(call, progress), running);
  await using workspace = new CallWorkspace(request, report, ports.workspaces);
  let isTakenOver = false;
  const listener = {
    onEnd: (taken: boolean) => {
      isTakenOver = taken;
      end.abort(new DOMException("the call was cancelled or taken over", "AbortError"));
    },
    onAnswer: (answer: Answer) => questions.receive(answer),
  };
  const watching = watchCall({ key, tail, journal }, { ...ports, listener }, running);
  const read = () => ports.journal.read(key, tail, running);
  const outage = { answers: read, clock: ports.clock };
  const open = () => workspace.sandbox(running);
  const openAlone = () => workspace.sandboxAlone(running);
  try {
    const actions: CallActions = {
      // Nothing has happened yet: the call waits for the store.
      sandbox: () => outlastOutage(open, { ...outage, maxFailures: maxOpenFailures }, running),
      sandboxAlone: () =>
        outlastOutage(openAlone, { ...outage, maxFailures: maxOpenFailures }, running),
      report,
      ask: async (question) => {
        using place = ports.asking?.tryAcquire();
        if (ports.asking === undefined || place !== undefined) {
          return await questions.ask(question, running);
        }
        const why = "question was not asked: too many calls of this toolhost wait for a person";
        ports.log.warn({ runId: key.run, callId: key.call, askedBy: question.askedBy }, why);
        return { kind: "cancelled" };
      },
    };
    const whole = await inExecutionSpan(request, () => runTool(request, ports, actions, running));
    const { note, ...usage } = workspace.usage;
    const result = await offloadResult(request, { ...whole, note }, { ...ports, outage }, running);
    const record = (returned: CallResult) =>
      writer.finish(resultFact(call, returned, { startedAt, ...usage }), running);
    if (await record(result).catch((error: unknown) => record(withoutContent(result, error)))) {
      workspace.markLossesReported();
      return true;
    }
    const limits = { maxElapsedMs: Infinity, clock: ports.clock };
    const { events } = await retryUnavailable(read, limits, running);
    return events.some(endsCall);
  } catch (error) {
    // Ended from outside: the journal already has the end of the call.
    if (end.signal.aborted && !signal.aborted) return !isTakenOver;
    throw error;
  } finally {
    end.abort(callEnded);
    await watching;
  }
}

/**
 * Calls the tool. Everything that the model can correct, and every error on the way, becomes a result that the model reads.
 * Throws only when `signal` aborts.
 */
async function runTool(
  { tenant, runId, startedBy, traceparent, call, settings, content }: ToolCallRequest,
  { toolbox, log }: Pick<CallPorts, "toolbox" | "log">,
  { sandboxAlone, ...actions }: CallActions,
  signal: AbortSignal,
): Promise<CallResult> {
  const tool = toolbox.find(call?.name ?? "");
  if (tool === undefined) return refused(`there is no tool ${call?.name ?? ""} here`);
  if (call?.arguments === undefined) {
    return refused(`the arguments are not a JSON object: ${call?.rawArguments ?? ""}`);
  }
  const problem = argumentCheck(tool.descriptor.inputSchema)(call.arguments);
  if (problem !== undefined) return refused(`the arguments are not valid: ${problem}`);
  const startedMs = performance.now();
  const context: CallContext = {
    tenant,
    runId,
    startedBy,
    traceparent: traceparentOf() || traceparent,
    callId: call.callId,
    args: call.arguments,
    settings: callSettings(settings),
    ...(content && { boundContent: content }),
    ...actions,
  };
  try {
    const changed = content && (await changedContent(await sandboxAlone(), content, signal));
    if (changed !== undefined) return changed;
    const result = await tool.call(context, signal);
    signal.throwIfAborted();
    return {
      ...result,
      executionTimeMs: result.executionTimeMs ?? performance.now() - startedMs,
      ...(content && { boundContent: content }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const executionTimeMs = performance.now() - startedMs;
    if (error instanceof Failure) return refused(error.message, executionTimeMs);
    log.error({ err: error, tool: call.name, callId: call.callId }, "tool threw an error");
    return refused(`the tool ${call.name} broke inside the toolhost`, executionTimeMs);
  }
}

/** Returns the result for one that the journal cannot store because of its size. Throws any other error. */
function withoutContent({ executionTimeMs = 0 }: CallResult, error: unknown): CallResult {
  if (!(error instanceof Failure) || error.reason !== ErrorReason.TOO_LARGE) throw error;
  const problem = "the call has ended, but its result is too large to be recorded";
  return refused(`${problem}; look at its effect before you call again`, executionTimeMs);
}

function refused(content: string, executionTimeMs = 0): CallResult {
  return { content, isError: true, executionTimeMs };
}
