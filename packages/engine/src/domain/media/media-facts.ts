import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { MediaKind } from "@reeve/agent/media/media-kinds";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { FilePart } from "@reeve/contracts/content/parts";
import { ResultExtent, ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { asUint32 } from "@reeve/run/head/as-uint32";
import { approvedCall } from "../calls/approved-call.ts";
import { toolResultFact } from "../calls/tool-result.ts";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call } from "../state/frame.ts";
import { mediaSizeOf } from "./media-call.ts";
import { costOfMedia } from "./media-cost.ts";

/** Returns the fact that an attempt waits for memory, or that its provider is asked now. */
export function waitingFact(
  { scope, call }: GeneratedCall,
  model: ModelSpec | undefined,
  isWaiting: boolean,
): Fact {
  const { attempt, reservedUsd } = call.media ?? { attempt: 1, reservedUsd: 0 };
  const value = {
    callId: call.call.callId,
    attempt,
    model: model?.upstreamName ?? "",
    isWaiting,
    ...(reservedUsd > 0 && { reservedUsd }),
  };
  return fact(scope, { case: "mediaCallStarted", value });
}

/** The call whose media were generated. */
export interface GeneratedCall {
  readonly scope: Scope;
  readonly call: Call;
  readonly media: MediaKind;
}

/** What a generation gave. */
export interface Generated {
  readonly model: ModelSpec;
  readonly files: readonly FilePart[];
  /** Tokens, as the provider reports them. 0: it reports none. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Returns the facts of a generation that succeeded: what it used, and its result with the artifacts. */
export function generatedFacts(
  { scope, call, media }: GeneratedCall,
  { model, files, inputTokens, outputTokens }: Generated,
  nowMs: number,
): readonly Fact[] {
  const { callId, name, arguments: args = {} } = approvedCall(call);
  const size = { ...mediaSizeOf(media, args), files: files.length };
  const costUsd = costOfMedia(media, model, { ...size, inputTokens, outputTokens });
  const list = files.map(describe).join("\n");
  const result = create(ToolResultSchema, {
    callId,
    name,
    content: `generated with ${model.id}:\n${list}`,
    structured: { artifacts: files.map(recordOf) },
    // Models read images, and no recordings in results.
    files: media === "image" ? [...files] : [],
    metadata: {
      status: ToolStatus.SUCCESS,
      executionTimeMs: Math.max(0, nowMs - (call.startedAtMs ?? nowMs)),
      extent: ResultExtent.WHOLE,
      offloadedArtifactId: files[0]?.artifactId ?? "",
    },
  });
  return [
    fact(scope, {
      case: "mediaCallEnded",
      value: {
        callId,
        attempt: attemptOf(call),
        model: model.upstreamName,
        files: files.length,
        inputTokens: asUint32(inputTokens),
        outputTokens: asUint32(outputTokens),
        ...(costUsd !== undefined && { costUsd }),
      },
    }),
    toolResultFact(call, scope, result, nowMs),
  ];
}

/** Why a generation gave nothing. */
export interface FailedGeneration {
  readonly model: string;
  readonly reason: string;
  readonly message: string;
  readonly mayBeBilled: boolean;
}

/** Returns the facts of a generation that failed, which is an error of its call. */
export function failedFacts(
  { scope, call }: GeneratedCall,
  { model, reason, message, mayBeBilled }: FailedGeneration,
  nowMs: number,
): readonly Fact[] {
  const { callId, name } = call.call;
  const said = reason === "refused" ? `the provider refuses to generate this: ${message}` : message;
  const result = create(ToolResultSchema, { callId, name, content: said, isError: true });
  return [
    fact(scope, {
      case: "mediaCallEnded",
      value: {
        callId,
        attempt: attemptOf(call),
        model,
        failure: reason,
        mayBeBilled,
        ...(mayBeBilled && lostCostOf(call)),
      },
    }),
    toolResultFact(call, scope, result, nowMs),
  ];
}

/** The cost of an attempt that may be billed is its maximum. Without one, it is not known. */
function lostCostOf({ media }: Call): { readonly costUsd?: number } {
  const reservedUsd = media?.reservedUsd ?? 0;
  return reservedUsd > 0 ? { costUsd: reservedUsd } : {};
}

function attemptOf({ media }: Call): number {
  return media?.attempt ?? 1;
}

function recordOf({ artifactId, name, mediaType, sizeBytes, width, height }: FilePart): JsonObject {
  return {
    artifact_id: artifactId,
    name,
    media_type: mediaType,
    size_bytes: sizeBytes,
    ...(width > 0 && { width, height }),
  };
}

function describe({ artifactId, name, mediaType, sizeBytes, width, height }: FilePart): string {
  const size = width > 0 ? `, ${width} × ${height} pixels` : "";
  return `- ${name}: artifact ${artifactId} (${mediaType}, ${sizeBytes} bytes${size})`;
}
