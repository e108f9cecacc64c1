import type { ImageRequest, MediaPart } from "@reeve/engine/ports/media-generator";
import { maxFileBytes } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { isFields } from "../wire/merge-delta.ts";
import type { ProviderFailures } from "../wire/provider-failures.ts";
import { serverSentEvents } from "../wire/server-sent-events.ts";
import { readBounded } from "./read-bounded.ts";

/** The maximum bytes of an image in Base64, and of everything else in an answer. */
const maxImageText = Math.ceil((maxFileBytes * 4) / 3) + 4;
const maxOtherBytes = 64 * 1024;

/** Reads an answer in JSON: the images, and what they used. */
export async function* readImages(
  { body }: { readonly body: AsyncIterable<Uint8Array> | null },
  { count }: ImageRequest,
): AsyncIterable<MediaPart> {
  const bytes = await readBounded(body, count * maxImageText + maxOtherBytes);
  const answer = parsed(bytes.toString());
  const images = isFields(answer) && Array.isArray(answer["data"]) ? answer["data"] : undefined;
  if (images === undefined) throw malformed("the answer has no list of images");
  for (const image of images.slice(0, count)) yield { kind: "file", bytes: bytesOf(image) };
  yield usageOf(answer);
}

/** Reads an answer in events: partial images, then the image and what it used. Reads nothing after the image. */
export async function* readImageStream(
  { body }: { readonly body: AsyncIterable<Uint8Array> | null },
  failures: ProviderFailures,
): AsyncIterable<MediaPart> {
  for await (const events of serverSentEvents(body ?? emptyBody())) {
    for (const { name, data, isCut } of events) {
      if (isCut || data === "[DONE]") continue;
      const event = parsed(data);
      const type = isFields(event) && typeof event["type"] === "string" ? event["type"] : name;
      if (type === "error" || (isFields(event) && isFields(event["error"]))) {
        throw failures.ofReport(event);
      }
      if (type.endsWith(".partial_image")) yield { kind: "partial", bytes: bytesOf(event) };
      if (!type.endsWith(".completed")) continue;
      yield { kind: "file", bytes: bytesOf(event) };
      yield usageOf(event);
      return;
    }
  }
  const options = { retryable: false, answerBegan: true };
  throw new ModelFailure("unavailable", "the answer ended without an image", options);
}

async function* emptyBody(): AsyncIterable<Uint8Array> {}

function bytesOf(image: unknown): Uint8Array {
  const text = isFields(image) ? image["b64_json"] : undefined;
  if (typeof text !== "string" || text === "") {
    const isAddress = isFields(image) && typeof image["url"] === "string";
    throw malformed(
      isAddress
        ? "the answer has the address of an image instead of its bytes"
        : "an image of the answer has no bytes",
    );
  }
  if (text.length > maxImageText) {
    throw malformed(`an image of the answer is larger than ${maxFileBytes} bytes`);
  }
  return Buffer.from(text, "base64");
}

function usageOf(answer: unknown): MediaPart {
  const usage = isFields(answer) && isFields(answer["usage"]) ? answer["usage"] : {};
  const count = (name: string) => {
    const value = usage[name];
    return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
  };
  return {
    kind: "usage",
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the exception as its cause, which quotes the answer.
    throw malformed("the answer is not JSON");
  }
}

function malformed(problem: string): ModelFailure {
  return new ModelFailure("malformed", problem, { retryable: false, answerBegan: true });
}
