import type { JsonObject } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { runtimeTool } from "../tools/runtime-tool.ts";
import { generateImageName, generateSpeechName, mediaReference } from "./media-kinds.ts";

/** How many images one call generates at most. */
const maxImages = 4;
/** The longest prompt of an image, and the longest text that is spoken, in characters. */
const maxPromptCharacters = 32_000;
const maxSpeechCharacters = 20_000;

/** A width or a height: no image above 8,000 pixels is stored. */
const pixels = "([1-9][0-9]{1,2}|[1-7][0-9]{3}|8000)";

/** The settings of images and speech, which are arguments of the tools and properties of the nodes `media`. */
export const imageSettings: JsonObject = {
  count: {
    type: "integer",
    minimum: 1,
    maximum: maxImages,
    description: "Number of images. Default: 1.",
  },
  size: {
    type: "string",
    pattern: `^(auto|${pixels}x${pixels})$`,
    description:
      "Width and height in pixels, as 1024x1024, each at most 8,000. Default: the provider chooses.",
  },
  quality: {
    type: "string",
    maxLength: 32,
    description: "Quality, as the provider names it. Default: the provider chooses.",
  },
  format: { enum: ["png", "jpeg", "webp"], description: "Format of the file. Default: png." },
};

export const speechSettings: JsonObject = {
  voice: {
    type: "string",
    maxLength: 64,
    description: "Voice, as the provider names it. Default: that of the provider.",
  },
  instructions: { type: "string", maxLength: 4_000, description: "How the text is spoken." },
  format: { enum: ["mp3", "wav"], description: "Format of the file. Default: mp3." },
};

/** The tool that generates images. */
const generateImage = mediaTool(
  generateImageName,
  "Generates images from a description, and stores them as artifacts of the run.",
  {
    prompt: {
      type: "string",
      minLength: 1,
      maxLength: maxPromptCharacters,
      description: "What the images show.",
    },
    ...imageSettings,
  },
  "prompt",
);

/** The tool that generates speech. */
const generateSpeech = mediaTool(
  generateSpeechName,
  "Speaks a text, and stores the recording as an artifact of the run.",
  {
    text: {
      type: "string",
      minLength: 1,
      maxLength: maxSpeechCharacters,
      description: "The text that is spoken.",
    },
    ...speechSettings,
  },
  "text",
);

/** Returns the tools of an agent that generate media: one for each kind for which it names a model. */
export function mediaTools({ media }: Pick<AgentSpec, "media">): readonly ToolDescriptor[] {
  return [
    ...(mediaReference(media, "image") === "" ? [] : [generateImage]),
    ...(mediaReference(media, "speech") === "" ? [] : [generateSpeech]),
  ];
}

/** A repeated generation gives other media, and costs again. */
function mediaTool(
  name: string,
  description: string,
  properties: JsonObject,
  required: string,
): ToolDescriptor {
  const { NETWORK } = PermissionClass;
  const tool = runtimeTool(name, NETWORK, description, properties, [required]);
  return { ...tool, idempotent: false };
}
