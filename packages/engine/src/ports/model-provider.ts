import type { ModelSpec, ProviderDescriptor } from "@reeve/contracts/agent";
import type { ModelTurn, ModelUsage, RenderedRequest } from "../domain/model/model.ts";

import type { MediaGenerator } from "./media-generator.ts";
import type { RequestOwner } from "./request-owner.ts";

export type {
  ModelToolCall,
  ModelTurn,
  ModelUsage,
  PromptFile,
  PromptMessage,
  PromptPart,
} from "../domain/model/model.ts";

/** Calls models of one provider, and streams their answers. */
export interface ModelProvider {
  readonly descriptor: ProviderDescriptor;
  /** The format of `ModelTurn.messageJson`: other providers get the text and the calls of a turn. A provider of the registry has its own. */
  readonly format: string;
  /**
   * Calls the model once, without retries. Yields parts as they arrive, and exactly one `turn` as the last value. Throws a
   * ModelFailure when there is no complete answer, and the signal's reason when `signal` aborts.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  /**
   * Returns the number of tokens of a request, without a call of the model. Throws as `stream` does. Providers whose
   * capabilities include it have this method.
   */
  readonly countTokens?:
    | ((request: ModelRequest, signal: AbortSignal) => Promise<number>)
    | undefined;
  /** What generates media. Providers whose descriptor has `generates` have it. */
  readonly media?: MediaGenerator | undefined;
}

export interface ModelRequest extends RenderedRequest {
  readonly model: ModelSpec;
  /** The bytes of the files in the messages, by id of the artifact. Absent: there are no files. A file that is missing was deleted. Empty once the answer has begun. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
  /** The run that makes the call. It is not sent to the provider. Absent: no run does. */
  readonly owner?: RequestOwner;
  /** Where an agent at an endpoint is in its work. Absent: the provider has models. */
  readonly remote?: RemoteTurn;
}

/** The message that a step sends to an agent at an endpoint. */
export interface RemoteTurn {
  /** The same for every attempt of the step. */
  readonly messageId: string;
  /** The open task of the agent. Empty: the message begins one. */
  readonly taskId: string;
  /** The context of earlier tasks of the same conversation. Empty: there is none. */
  readonly contextId: string;
  /** Whether the agent has accepted the message: an earlier attempt of the step has seen its task. */
  readonly isAccepted: boolean;
  /** How long the agent may take, in milliseconds: what the run has left of its time. */
  readonly maxMs: number;
}

export type ModelPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** An agent at an endpoint accepted the message. */
  | { readonly kind: "remote_task"; readonly taskId: string; readonly contextId: string }
  /** An agent at an endpoint has produced a file, which the run stores as an artifact. */
  | { readonly kind: "file"; readonly file: RunFile }
  | { readonly kind: "turn"; readonly turn: ModelTurn };

/** A file for the artifacts of a run, before it is stored. */
export interface RunFile {
  /** Without folders. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Names the file among all of the run: the id of its artifact follows from it, and storing it again changes nothing. */
  readonly key: string;
}

/**
 * Why a signal aborts if no worker will ever need the answer: the run was cancelled, or has ended otherwise. With any other reason, another
 * worker may ask again.
 */
export class AnswerNotNeeded extends DOMException {
  constructor() {
    super("the run no longer needs this effect", "AbortError");
  }
}

export type ModelFailureReason =
  | "rate_limited"
  | "unavailable"
  /** The worker leaves the provider alone, and has not called it. */
  | "paused"
  | "not_configured"
  /** The provider was stored through the API, and is deleted. */
  | "provider_removed"
  /** The operator's policy withholds the model now. */
  | "withheld"
  | "context_overflow"
  | "refused"
  | "unauthenticated"
  /** The provider has no model of this name, or none at this address. */
  | "unknown_model"
  /** The account has no credit left. */
  | "no_credit"
  /** The provider does not know a setting of the request, or the request as a whole. */
  | "unsupported"
  /** The provider refuses the request for its messages, such as a file that it cannot decode. */
  | "invalid"
  | "malformed";

export interface ModelFailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** Default: follows from the reason. */
  readonly retryable?: boolean | undefined;
  /** Default: false. */
  readonly answerBegan?: boolean | undefined;
  /** Default: true, unless the answer began, or the reason is `unavailable` or `malformed`. */
  readonly isUnprocessed?: boolean | undefined;
  /** Default: the provider does not report it. */
  readonly usage?: ModelUsage | undefined;
}

/** Thrown when a model gives no answer. Says why, and whether a retry may help. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly reason: ModelFailureReason;
  /** How long the provider asked to wait before a retry. Undefined: it did not ask. */
  readonly retryAfterMs: number | undefined;
  /** Whether a retry of the same request may succeed. */
  readonly retryable: boolean;
  /** Whether the provider had begun to answer, also if that yielded no part, as with a tool call. */
  readonly answerBegan: boolean;
  /** Whether it is certain that the provider did nothing for the request, and bills nothing. */
  readonly isUnprocessed: boolean;
  /** What the call has used, as the provider reports it. It is charged if no attempt follows. Undefined: it is unknown. */
  readonly usage: ModelUsage | undefined;

  constructor(reason: ModelFailureReason, message: string, options: ModelFailureOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = options.retryable ?? temporary.has(reason);
    this.answerBegan = options.answerBegan ?? false;
    this.usage = options.usage;
    this.isUnprocessed =
      options.isUnprocessed ??
      !(this.answerBegan || reason === "unavailable" || reason === "malformed");
  }
}

/** Reasons that are temporary. A retry after any other reason would fail in the same way. */
const temporary: ReadonlySet<ModelFailureReason> = new Set([
  "rate_limited",
  "unavailable",
  "paused",
  "not_configured",
  "malformed",
]);
