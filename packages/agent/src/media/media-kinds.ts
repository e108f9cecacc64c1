import type { MediaSettings } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { runtimeSource } from "../tools/runtime-tool.ts";

/** The kinds of media that models generate. */
export const mediaKinds = ["image", "speech"] as const;

export type MediaKind = (typeof mediaKinds)[number];

export const generateImageName = "generate_image";
export const generateSpeechName = "generate_speech";

const toolNames = { image: generateImageName, speech: generateSpeechName } as const;

/** Whether a text names a kind of media that models generate. */
export function isMediaKind(name: string): name is MediaKind {
  return mediaKinds.some((kind) => kind === name);
}

/** Returns the name of the tool that generates a kind of media. */
export function mediaToolName(kind: MediaKind): string {
  return toolNames[kind];
}

/** Returns the kind of media that a tool of the runtime generates. Undefined: it is another tool. */
export function mediaKindOf({
  name,
  source,
}: Pick<ToolDescriptor, "name" | "source">): MediaKind | undefined {
  if (source !== runtimeSource) return undefined;
  return mediaKinds.find((kind) => toolNames[kind] === name);
}

/** Returns the model that an agent names for a kind of media. Empty: it names none. */
export function mediaReference(media: MediaSettings | undefined, kind: MediaKind): string {
  return (kind === "image" ? media?.imageModel : media?.speechModel) ?? "";
}

/** Returns the field of an agent that names the model for a kind of media. */
export function mediaField(kind: MediaKind): string {
  return `media.${kind}_model`;
}
