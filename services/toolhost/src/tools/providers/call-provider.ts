import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import type {
  ExecuteToolResponse,
  ProvidedResult,
} from "@reeve/contracts/extensions/tool-provider";
import { ExecuteToolRequestSchema } from "@reeve/contracts/extensions/tool-provider";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import { Failure } from "@reeve/platform/failure";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { ProviderChannel } from "./provider-channel.ts";
import { isStatus } from "./provider-channel.ts";
import { providedResult } from "./provided-result.ts";

/** How long a provider may take to end its stream after the result. */
const endTimeoutMs = 2_000;
const maxCharacters = 1_000;

/** A tool of a provider. */
export interface ProviderCall {
  readonly channel: Pick<ProviderChannel, "execute">;
  /** Name of the provider, for messages to the model. */
  readonly provider: string;
  /** Name of the tool at its provider. */
  readonly tool: string;
  readonly idempotent: boolean;
  readonly timeLimitMs: number;
}

/**
 * Calls a tool of a provider. Every error of the provider becomes a result that says whether the call may have had its effect.
 * Rejects only when `signal` aborts.
 */
export async function callProvider(
  { channel, provider, tool, idempotent, timeLimitMs }: ProviderCall,
  context: CallContext,
  signal: AbortSignal,
): Promise<CallResult> {
  const { callId, args, tenant, runId, traceparent, report } = context;
  const request = create(ExecuteToolRequestSchema, {
    callId,
    name: tool,
    arguments: args,
    tenant,
    runId,
    traceparent,
    timeLimit: durationFromMs(Math.round(timeLimitMs)),
  });
  const results: ProvidedResult[] = [];
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal]);
  let endTimer: NodeJS.Timeout | undefined;
  let hasStarted = false;
  try {
    const events = channel.execute(request, idempotent, Date.now() + timeLimitMs, until);
    for await (const { event } of events) {
      hasStarted = true;
      if (results.length > 0) return broken(provider, "sent more after its result");
      const result = resultIn(event, report);
      if (result === undefined) continue;
      results.push(result);
      endTimer = setTimeout(() => enough.abort(), endTimeoutMs);
    }
  } catch (error) {
    signal.throwIfAborted();
    // A result that was received counts, even if its stream ends with an error.
    if (results.length === 0) return failed(error, { provider, hasStarted, timeLimitMs });
  } finally {
    clearTimeout(endTimer);
  }
  signal.throwIfAborted();
  const [result] = results;
  return result === undefined
    ? broken(provider, "ended the call without a result")
    : providedResult(result);
}

/** Reports progress, and returns the result if the event has one. */
function resultIn(
  event: ExecuteToolResponse["event"],
  report: CallContext["report"],
): ProvidedResult | undefined {
  switch (event.case) {
    case "progress": {
      const { progress, total, message } = event.value;
      report({ progress, message, ...(total !== undefined && { total }) });
      return undefined;
    }
    case "result":
      return event.value;
    case undefined:
      // An event that a newer provider added for display.
      return undefined;
  }
}

interface Circumstances {
  readonly provider: string;
  readonly hasStarted: boolean;
  readonly timeLimitMs: number;
}

/** Returns the result of a call that ended with an error status. */
function failed(error: unknown, { provider, hasStarted, timeLimitMs }: Circumstances): CallResult {
  // A secret that it needs is missing: the call was not sent.
  if (error instanceof Failure) return failedResult(`${error.message}; the call was not made`);
  if (!isStatus(error)) return broken(provider, "sent an answer that cannot be read");
  // Before it is cut, perhaps in the middle of a secret.
  const details = processRedaction.text(error.details).slice(0, maxCharacters);
  const unknown = "the outcome of the call is unknown";
  // A provider that has started a call may have caused its effect before it refused to continue.
  const begun = hasStarted ? `; ${unknown}` : "";
  switch (error.code) {
    case status.UNAVAILABLE:
      return isUnsent(error) && !hasStarted
        ? failedResult(
            `the tool provider ${provider} is unavailable; the call was not made (${details})`,
          )
        : failedResult(
            `the tool provider ${provider} became unavailable during the call; ${unknown} (${details})`,
          );
    case status.DEADLINE_EXCEEDED:
      return {
        ...failedResult(
          `the tool provider ${provider} did not end the call within ${timeLimitMs / 1_000} s; ${unknown}`,
        ),
        endReason: "timeout",
      };
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return failedResult(
        `the tool provider ${provider} refuses calls of this toolhost (${details})${begun}`,
      );
    case status.UNIMPLEMENTED:
    case status.NOT_FOUND:
      return failedResult(
        `the tool provider ${provider} does not have this tool (${details})${begun}`,
      );
    case status.INVALID_ARGUMENT:
      return failedResult(`the tool provider ${provider} refused the call: ${details}${begun}`);
    case status.RESOURCE_EXHAUSTED:
      return failedResult(`the tool provider ${provider} exceeded a limit: ${details}; ${unknown}`);
    case status.INTERNAL:
      return failedResult(
        `the tool provider ${provider} broke during the call: ${details}; ${unknown}`,
      );
    default:
      return failedResult(
        `the tool provider ${provider} ended the call with ${status[error.code]}: ${details}; ${unknown}`,
      );
  }
}

/** Whether the call was never sent: no address answered, or the name has none. A status with metadata comes from a server. */
function isUnsent({ details, metadata }: ServiceError): boolean {
  const isOurs = Object.keys(metadata.getMap()).length === 0;
  return isOurs && /^(\w+: )?(No connection established|Name resolution failed)/.test(details);
}

function broken(provider: string, what: string): CallResult {
  return failedResult(`the tool provider ${provider} ${what}; the outcome of the call is unknown`);
}

function failedResult(content: string): CallResult {
  return { content, isError: true };
}
