import type { ImageRequest } from "@reeve/engine/ports/media-generator";

/** Whether a request is answered with a stream, which has partial images. Only one image can be streamed. */
export function isStreamed({ count, model }: ImageRequest): boolean {
  return count === 1 && model.partialImages > 0;
}

/** Models that always return bytes, and know the format. Others, and compatible servers, have to be asked for bytes. */
const withFormat = /^(chatgpt|gpt)-image/;
/** Models that refuse a format. */
const withoutFormat = /^dall-e/;

/** Returns the body of `POST /images/generations`. */
export function imageBody(request: ImageRequest): object {
  const { model, prompt, count, size, quality, format } = request;
  return {
    model: model.upstreamName,
    prompt,
    n: count,
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(withFormat.test(model.upstreamName)
      ? { output_format: format }
      : { response_format: "b64_json", ...otherFormat(request) }),
    ...(isStreamed(request) && { stream: true, partial_images: model.partialImages }),
  };
}

/** A server may refuse a setting that it does not know, so that the default is not sent. The files tell what they are. */
function otherFormat({ model, format }: ImageRequest): object {
  return format === "png" || withoutFormat.test(model.upstreamName)
    ? {}
    : { output_format: format };
}
