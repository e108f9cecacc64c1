import type { ModelSpec } from "@reeve/contracts/agent";
import type { RequestOwner } from "@reeve/engine/ports/request-owner";

/** A call of a model that has ended: with an answer or files, or because the provider failed. */
export interface EndedModelCall {
  readonly model: ModelSpec;
  /** Undefined: no run makes the call. */
  readonly owner: RequestOwner | undefined;
  /** Undefined: the call failed. */
  readonly usage: CallUsage | undefined;
  readonly durationMs: number;
}

/** What a call of a model has used. */
export interface CallUsage {
  /** 0: the provider reports no tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. Undefined: it is not known. */
  readonly costUsd: number | undefined;
}
