import type { JsonObject } from "@bufbuild/protobuf";
import type { MediaKind } from "@reeve/agent/media/media-kinds";
import type { ModelSpec } from "@reeve/contracts/agent";
import { textArgument } from "../../domain/runtime-tools/runtime-tool-result.ts";
import type { MediaRequest } from "../../ports/media-generator.ts";

/** Returns the request of a call. Its arguments fit the schema of the tool. */
export function mediaRequest(kind: MediaKind, model: ModelSpec, args: JsonObject): MediaRequest {
  const given = (name: string) => textArgument(args, name) || undefined;
  if (kind === "speech") {
    const format = given("format") === "wav" ? "wav" : "mp3";
    const [voice, instructions] = [given("voice"), given("instructions")];
    return { kind, model, text: textArgument(args, "text"), voice, instructions, format };
  }
  const { count, format } = args;
  return {
    kind,
    model,
    prompt: textArgument(args, "prompt"),
    count: typeof count === "number" ? count : 1,
    size: given("size"),
    quality: given("quality"),
    format: format === "jpeg" || format === "webp" ? format : "png",
  };
}

/** Returns the media type of the files that a request asks for. */
export function mediaTypeOf({ format }: Pick<MediaRequest, "format">): string {
  if (format === "mp3") return "audio/mpeg";
  return format === "wav" ? "audio/wav" : `image/${format}`;
}
