import type {
  ImageRequest,
  MediaGenerator,
  MediaPart,
  SpeechRequest,
} from "@reeve/engine/ports/media-generator";
import { maxFileBytes } from "@reeve/engine/ports/media-generator";
import type OpenAI from "openai";
import type { ProviderFailures } from "../wire/provider-failures.ts";
import { readImages, readImageStream } from "./image-answer.ts";
import { imageBody, isStreamed } from "./image-request.ts";
import { assertType, readBounded } from "./read-bounded.ts";

/** The media that the API of OpenAI generates. */
export const openaiMedia = ["image", "speech"] as const;

/** The voice of speech without one: the API requires it. */
const defaultVoice = "alloy";

/** The connection to a provider, and its name in messages. */
interface MediaConnection {
  readonly client: OpenAI;
  readonly failures: ProviderFailures;
  readonly provider: string;
}

/** Generates images and speech over the API of OpenAI, or of a compatible server. */
export function openaiGenerator(connection: MediaConnection): MediaGenerator {
  return {
    async *generate(request, signal) {
      try {
        yield* request.kind === "image"
          ? images(connection, request, signal)
          : speech(connection, request, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw connection.failures.ofException(error);
      }
    },
  };
}

async function* images(
  { client, failures, provider }: MediaConnection,
  request: ImageRequest,
  signal: AbortSignal,
): AsyncIterable<MediaPart> {
  const response = await post(client, "/images/generations", imageBody(request), signal);
  if (!isStreamed(request)) {
    assertType(response, provider, ["application/json"]);
    yield* readImages(response, request);
    return;
  }
  assertType(response, provider, ["text/event-stream"]);
  yield* readImageStream(response, failures);
}

async function* speech(
  { client, provider }: MediaConnection,
  { model, text, voice = defaultVoice, instructions, format }: SpeechRequest,
  signal: AbortSignal,
): AsyncIterable<MediaPart> {
  const body = {
    model: model.upstreamName,
    input: text,
    voice,
    response_format: format,
    ...(instructions !== undefined && { instructions }),
  };
  const response = await post(client, "/audio/speech", body, signal);
  assertType(response, provider, ["audio/", "application/octet-stream"]);
  yield { kind: "file", bytes: await readBounded(response.body, maxFileBytes) };
}

async function post(
  client: OpenAI,
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<Response> {
  return await client.post(path, { body, signal }).asResponse();
}
