import type { ModelSpec } from "@reeve/contracts/agent";
import type { RequestOwner } from "./request-owner.ts";

/** Generates images and speech with the models of one provider. */
export interface MediaGenerator {
  /**
   * Generates once, without retries. Yields partial images as they arrive, then the files, and at the end what was used. Throws a
   * ModelFailure if the provider generates nothing, and the signal's reason when `signal` aborts. A file has at most `maxFileBytes`.
   */
  generate(request: MediaRequest, signal: AbortSignal): AsyncIterable<MediaPart>;
}

/** The maximum size of a generated file. */
export const maxFileBytes = 20 * 2 ** 20;

/** Images or speech to generate. */
export type MediaRequest = ImageRequest | SpeechRequest;

interface OwnedRequest {
  readonly model: ModelSpec;
  /** The run that generates. It is not sent to the provider. Absent: no run does. */
  readonly owner?: RequestOwner;
}

export interface ImageRequest extends OwnedRequest {
  readonly kind: "image";
  readonly prompt: string;
  /** Number of images: at least 1. */
  readonly count: number;
  /** Width and height, as `1024x1024`. Undefined: the provider chooses. */
  readonly size: string | undefined;
  /** As the provider names it. Undefined: the provider chooses. */
  readonly quality: string | undefined;
  readonly format: "png" | "jpeg" | "webp";
}

export interface SpeechRequest extends OwnedRequest {
  readonly kind: "speech";
  /** The text that is spoken. */
  readonly text: string;
  /** As the provider names it. Undefined: its default. */
  readonly voice: string | undefined;
  /** How the text is spoken. Undefined: nothing is said about it. */
  readonly instructions: string | undefined;
  readonly format: "mp3" | "wav";
}

export type MediaPart =
  /** An image that is not finished. */
  | { readonly kind: "partial"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | {
      readonly kind: "usage";
      /** 0: the provider reports no tokens. */
      readonly inputTokens: number;
      readonly outputTokens: number;
    };
