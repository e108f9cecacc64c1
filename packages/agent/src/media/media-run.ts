import type { JsonObject } from "@bufbuild/protobuf";
import { clone, create } from "@bufbuild/protobuf";
import type { AgentSpec, ModelCatalog } from "@reeve/contracts/agent";
import { AgentSpecSchema, MediaSettingsSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import type { MediaGeneration } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";
import type { MediaKind } from "./media-kinds.ts";
import { isMediaKind, mediaReference, mediaKinds } from "./media-kinds.ts";
import { defaultMediaModel, generatingModel } from "./media-models.ts";

const field = "media_generation";

/** Whether a request asks for media in place of an answer. */
export function asksForMedia(media: MediaGeneration | undefined): media is MediaGeneration {
  return media !== undefined && media.mode !== "" && media.mode !== "chat";
}

/**
 * Returns the agent of a run that generates media: the given one with a workflow that consists of the generation, so that its tools,
 * rules, approvals, and limits hold. Throws a Failure of kind `unsupported` that names the mode if nothing generates such media.
 */
export function mediaAgent(
  given: AgentSpec,
  media: MediaGeneration,
  catalog: ModelCatalog,
): AgentSpec {
  const { mode } = media;
  if (!isMediaKind(mode)) {
    const known = mediaKinds.join(" and ");
    throw refusal("mode", `asks for "${mode}", and the media that can be generated are ${known}`);
  }
  if (given.workflow !== undefined) {
    const description = `the agent "${given.id}" is a workflow; name another agent, or run it with workflow_target`;
    throw new Failure("precondition", ErrorReason.INVALID_REQUEST, description, {
      violations: [{ field, description, reason: "CONTRADICTION" }],
    });
  }
  if (given.endpoint !== undefined) {
    const description = `the agent "${given.id}" works at its endpoint, and generates no media here; name another agent`;
    throw new Failure("precondition", ErrorReason.INVALID_REQUEST, description, {
      violations: [{ field, description, reason: "CONTRADICTION" }],
    });
  }
  assertSettings(mode, media);
  if (media.model !== "") generatingModel(mode, media.model, catalog, `${field}.model`);
  const model =
    media.model || mediaReference(given.media, mode) || defaultMediaModel(mode, catalog);
  if (model === undefined) {
    const missing = `asks for "${mode}", and this deployment has no provider that generates media of this kind; register a model with generates: [${mode}] in the file of REEVE_MODELS`;
    throw refusal("mode", missing);
  }
  const spec = clone(AgentSpecSchema, given);
  spec.media ??= create(MediaSettingsSchema);
  if (mode === "image") spec.media.imageModel = model;
  else spec.media.speechModel = model;
  spec.planningEnabled = false;
  // The generation calls no other model.
  if (spec.approvalPolicy?.reviewer === undefined) {
    spec.model = "";
    spec.fallbackModels = [];
  }
  delete spec.outputSchema;
  spec.workflow = create(WorkflowSchema, {
    nodes: [
      { id: "input", type: "input" },
      { id: "media", type: `media:${mode}`, properties: propertiesOf(mode, media) },
      { id: "answer", type: "output" },
    ],
    edges: [
      { source: "input", target: "media" },
      { source: "media", sourceHandle: "result", target: "answer" },
    ],
  });
  return spec;
}

/** The settings that only one kind of media has. */
const settingsOf = {
  image: ["count", "size", "quality"],
  speech: ["voice"],
} as const;
const formatsOf = { image: ["png", "jpeg", "webp"], speech: ["mp3", "wav"] } as const;

/** Throws a Failure that names every setting that the kind of media does not have. */
function assertSettings(kind: MediaKind, media: MediaGeneration): void {
  const foreign = mediaKinds
    .filter((each) => each !== kind)
    .flatMap((each) => settingsOf[each])
    .filter((name) => media[name] !== "" && media[name] !== 0)
    .map((name) => ({ name, description: `${kind} has no ${name}; leave it out` }));
  const formats: readonly string[] = formatsOf[kind];
  const { format } = media;
  const hasFormat = format === "" || formats.includes(format);
  const description = `${kind} has no format ${format}; it has ${formats.join(", ")}`;
  const problems = [...foreign, ...(hasFormat ? [] : [{ name: "format", description }])];
  if (problems.length === 0) return;
  const violations = problems.map((each) => ({
    field: `${field}.${each.name}`,
    description: each.description,
    reason: "CONTRADICTION",
  }));
  const message = problems.map((each) => each.description).join("; ");
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

function propertiesOf(
  kind: MediaKind,
  { count, size, quality, voice, format }: MediaGeneration,
): JsonObject {
  const given =
    kind === "image" ? { count: count || undefined, size, quality, format } : { voice, format };
  return Object.fromEntries(
    Object.entries(given).filter(
      (entry): entry is [string, string | number] => entry[1] !== undefined && entry[1] !== "",
    ),
  );
}

function refusal(name: string, problem: string): Failure {
  const description = `${field} ${problem}; leave it out to talk to the agent`;
  return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, description, {
    violations: [{ field: `${field}.${name}`, description, reason: unsupportedCapability }],
  });
}
