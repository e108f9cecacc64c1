import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import type { ExecuteToolResponse, ProvidedResult } from "@reeve/contracts/tool-provider";
import { ExecuteToolRequestSchema } from "@reeve/contracts/tool-provider";
import type { CallContext, CallResult } from "@reeve/calls/ports/tool";
import type { ProviderChannel } from "./provider-channel.ts";
import { isStatus } from "./provider-channel.ts";
import { providedOutcome } from "./provided-result.ts";

/** How long a provider may take to end a stream whose result it has given. */
const endMs = 2_000;
const maxCharacters = 1_000;

/** What is called, of whom. */
export interface ProviderCall {
  readonly channel: Pick<ProviderChannel, "execute">;
  /** Name of the provider, for the model. */
  readonly provider: string;
  /** Name of the tool, as its provider knows it. */
  readonly tool: string;
  readonly idempotent: boolean;
  readonly timeLimitMs: number;
}

/**
 * Makes one call of a provider's tool. Whatever the provider does, the outcome says what became of the call; rejects only
 * when `signal` aborts.
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
    timeLimit: durationFromMs(timeLimitMs),
  });
  const results: ProvidedResult[] = [];
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal]);
  let patience: NodeJS.Timeout | undefined;
  let hasSpoken = false;
  try {
    const said = channel.execute(request, idempotent, Date.now() + timeLimitMs, until);
    for await (const { event } of said) {
      hasSpoken = true;
      if (results.length > 0) return broken(provider, "said more after its result");
      const done = take(event, report);
      if (done === undefined) continue;
      results.push(done);
      patience = setTimeout(() => enough.abort(), endMs);
    }
  } catch (error) {
    signal.throwIfAborted();
    // A result that was given stands, however its stream ends.
    if (results.length === 0) return failed(error, { provider, hasSpoken, timeLimitMs });
  } finally {
    clearTimeout(patience);
  }
  signal.throwIfAborted();
  const [result] = results;
  return result === undefined
    ? broken(provider, "ended the call without a result")
    : providedOutcome(result);
}

function take(
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
      // A newer provider says something that only shows more.
      return undefined;
  }
}

interface Circumstances {
  readonly provider: string;
  readonly hasSpoken: boolean;
  readonly timeLimitMs: number;
}

/** What a model is told of a call that ended with an error status. */
function failed(error: unknown, { provider, hasSpoken, timeLimitMs }: Circumstances): CallResult {
  if (!isStatus(error)) return broken(provider, "answered with what cannot be read");
  const details = error.details.slice(0, maxCharacters);
  const unknown = "the outcome of the call is unknown";
  // Whoever has begun a call may have had its effect before refusing to go on.
  const begun = hasSpoken ? `; ${unknown}` : "";
  switch (error.code) {
    case status.UNAVAILABLE:
      return isUnsent(error) && !hasSpoken
        ? told(`the tool provider ${provider} is not available; the call was not made (${details})`)
        : told(`the tool provider ${provider} went away during the call; ${unknown} (${details})`);
    case status.DEADLINE_EXCEEDED:
      return {
        ...told(
          `the tool provider ${provider} did not end the call within ${timeLimitMs / 1_000} s; ${unknown}`,
        ),
        endReason: "timeout",
      };
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return told(
        `the tool provider ${provider} refuses calls of this toolhost (${details})${begun}`,
      );
    case status.UNIMPLEMENTED:
    case status.NOT_FOUND:
      return told(`the tool provider ${provider} does not have this tool (${details})${begun}`);
    case status.INVALID_ARGUMENT:
      return told(`the tool provider ${provider} refused the call: ${details}${begun}`);
    case status.RESOURCE_EXHAUSTED:
      return told(
        `the tool provider ${provider} gave or was asked too much: ${details}; ${unknown}`,
      );
    case status.INTERNAL:
      return told(`the tool provider ${provider} broke during the call: ${details}; ${unknown}`);
    default:
      return told(
        `the tool provider ${provider} ended the call with ${status[error.code]}: ${details}; ${unknown}`,
      );
  }
}

/** A call that never left this host: no address answered, or the name has none. A status with metadata is somebody's. */
function isUnsent({ details, metadata }: ServiceError): boolean {
  const isOurs = Object.keys(metadata.getMap()).length === 0;
  return isOurs && /^(\w+: )?(No connection established|Name resolution failed)/.test(details);
}

function broken(provider: string, what: string): CallResult {
  return told(`the tool provider ${provider} ${what}; the outcome of the call is unknown`);
}

function told(content: string): CallResult {
  return { content, isError: true };
}
