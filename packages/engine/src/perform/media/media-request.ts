import type { JsonObject } from "@bufbuild/protobuf";
import type { MediaKind } from "@reeve/agent/media/media-kinds";
import type { ModelSpec } from "@reeve/contracts/agent";
import { mediaTypeOf } from "@reeve/jetstream/objects/inspect-media";
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

/** The media types of generated files, and the endings of their names. */
const formats = {
  image: [
    { ending: "png", mediaType: "image/png" },
    { ending: "jpeg", mediaType: "image/jpeg" },
    { ending: "webp", mediaType: "image/webp" },
  ],
  speech: [
    { ending: "mp3", mediaType: "audio/mpeg" },
    { ending: "wav", mediaType: "audio/wav" },
  ],
} as const;

/** The media type of a file, and the ending of its name. */
export interface FileFormat {
  readonly ending: string;
  readonly mediaType: string;
}

/**
 * Returns the format of a generated file by its first bytes: not every provider can be asked for a format. Returns the one that was asked
 * for if the bytes are of no format of this kind of media.
 */
export function formatOf({ kind, format }: MediaRequest, bytes: Uint8Array): FileFormat {
  const known: readonly FileFormat[] = formats[kind];
  const actual = mediaTypeOf(bytes);
  const asked = known.find(({ ending }) => ending === format) ?? formats[kind][0];
  return known.find(({ mediaType }) => mediaType === actual) ?? asked;
}
