import type {
  ImageRequest,
  MediaGenerator,
  MediaPart,
  MediaRequest,
  SpeechRequest,
} from "@reeve/engine/ports/media-generator";
import { maxFileBytes } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type OpenAI from "openai";
import { openaiClient } from "../wire/openai-client.ts";
import type { ProviderFailures } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import { defaultIdleTimeoutMs } from "../wire/provider-options.ts";
import { readImages, readImageStream } from "./image-answer.ts";
import { imageBody, isStreamed } from "./image-request.ts";
import { assertType, readBounded } from "./read-bounded.ts";

/** The media that the API of OpenAI generates. */
export const openaiMedia = ["image", "speech"] as const;

/** The voice of speech without one: the API requires it. */
const defaultVoice = "alloy";

/** Without partial images, nothing is sent until all images are finished. The deadline of a generation ends before. */
const minIdleTimeoutMs = 660_000;

/** How a provider is named in messages, and how its failures are classified. */
interface MediaNames {
  readonly failures: ProviderFailures;
  readonly provider: string;
}

/**
 * Generates images and speech over the API of OpenAI, or of a compatible server. Each failure after the headers of an answer may be
 * billed.
 */
export function openaiGenerator(
  { idleTimeoutMs = defaultIdleTimeoutMs, ...options }: ProviderOptions,
  names: MediaNames,
): MediaGenerator {
  const openClient = openaiClient({
    ...options,
    idleTimeoutMs: Math.max(idleTimeoutMs, minIdleTimeoutMs),
  });
  return {
    async *generate(request, signal) {
      let hasHeaders = false;
      try {
        const response = await post(await openClient(), request, signal);
        hasHeaders = true;
        yield* request.kind === "image"
          ? images(response, request, names)
          : speech(response, names);
      } catch (error) {
        signal.throwIfAborted();
        const failure = names.failures.ofException(error);
        throw hasHeaders ? asBegun(failure) : failure;
      }
    },
  };
}

function asBegun(failure: unknown): unknown {
  if (!(failure instanceof ModelFailure)) return failure;
  const { reason, message, retryable, retryAfterMs, cause } = failure;
  return new ModelFailure(reason, message, { retryable, retryAfterMs, cause, answerBegan: true });
}

async function* images(
  response: Response,
  request: ImageRequest,
  { failures, provider }: MediaNames,
): AsyncIterable<MediaPart> {
  if (!isStreamed(request)) {
    assertType(response, provider, ["application/json"]);
    yield* readImages(response, request);
    return;
  }
  assertType(response, provider, ["text/event-stream"]);
  yield* readImageStream(response, failures);
}

async function* speech(
  response: Response,
  { provider }: Pick<MediaNames, "provider">,
): AsyncIterable<MediaPart> {
  assertType(response, provider, ["audio/", "application/octet-stream"]);
  yield { kind: "file", bytes: await readBounded(response.body, maxFileBytes) };
}

/** Returns the body of `POST /audio/speech`. */
function speechBody({
  model,
  text,
  voice = defaultVoice,
  instructions,
  format,
}: SpeechRequest): object {
  return {
    model: model.upstreamName,
    input: text,
    voice,
    response_format: format,
    ...(instructions !== undefined && { instructions }),
  };
}

async function post(client: OpenAI, request: MediaRequest, signal: AbortSignal): Promise<Response> {
  const [path, body] =
    request.kind === "image"
      ? (["/images/generations", imageBody(request)] as const)
      : (["/audio/speech", speechBody(request)] as const);
  return await client.post(path, { body, signal }).asResponse();
}
