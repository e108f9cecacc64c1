import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ModelSpecSchema } from "@reeve/contracts/agent";
import { AgentSpecSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { MediaGenerationSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { checkSpec } from "../spec/check-spec.ts";
import { mediaAgent } from "./media-run.ts";

const painter = { id: "painter", provider: "p", upstreamName: "x", generates: ["image"] };

const catalogOf = (...models: readonly MessageInitShape<typeof ModelSpecSchema>[]) =>
  create(ModelCatalogSchema, {
    models: [{ id: "m", provider: "p", upstreamName: "m" }, ...models],
    providers: [{ name: "p", generates: ["image"] }],
  });

function runOf(
  media: MessageInitShape<typeof MediaGenerationSchema>,
  spec = {},
  models = [painter],
) {
  const given = create(AgentSpecSchema, { id: "a", name: "a", model: "m", ...spec });
  return mediaAgent(given, create(MediaGenerationSchema, media), catalogOf(...models));
}

/** Returns what a function throws. */
function thrown(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

// Requirement: CHAT-1
describe("a request for media", () => {
  test("runs one node with the settings of the request, in place of the work of the agent", () => {
    const spec = runOf(
      { mode: "image", size: "64x48" },
      { planningEnabled: true, outputSchema: {} },
    );
    expect(spec).toMatchObject({ media: { imageModel: "painter" }, planningEnabled: false });
    expect(spec.outputSchema).toBeUndefined();
    expect(spec.workflow?.nodes[1]).toMatchObject({
      type: "media:image",
      properties: { size: "64x48" },
    });
  });

  test("has the model that it names, or that of the agent, or the first that generates such media", () => {
    const other = { ...painter, id: "other" };
    const agent = { media: { imageModel: "other" } };
    const modelOf = (model: string, spec = {}) =>
      runOf({ mode: "image", model }, spec, [painter, other]).media?.imageModel;
    expect([modelOf(""), modelOf("", agent), modelOf("painter", agent)]).toEqual([
      "painter",
      "other",
      "painter",
    ]);
  });

  test("is refused with all settings that the media do not have, before anything is paid for", () => {
    const settings = { mode: "image", format: "mp3", voice: "alloy" };
    expect(thrown(() => runOf(settings))).toMatchObject({
      kind: "invalid",
      violations: [{ field: "media_generation.voice" }, { field: "media_generation.format" }],
    });
    const spoken = { mode: "speech", format: "png", count: 2, size: "64x48", quality: "high" };
    const fields = ["count", "size", "quality", "format"];
    expect(thrown(() => runOf(spoken))).toMatchObject({
      violations: fields.map((name) => ({ field: `media_generation.${name}` })),
    });
    const endpoint = { endpoint: { url: "https://agent.example.org" } };
    expect(thrown(() => runOf({ mode: "image" }, endpoint))).toMatchObject({
      violations: [{ field: "media_generation", reason: "CONTRADICTION" }],
    });
  });

  test("is refused by name if nothing generates such media", () => {
    const refused = { kind: "unsupported", violations: [{ field: "media_generation.mode" }] };
    expect(thrown(() => runOf({ mode: "video" }))).toMatchObject(refused);
    expect(thrown(() => runOf({ mode: "speech" }))).toMatchObject(refused);
    expect(thrown(() => runOf({ mode: "image" }, {}, []))).toMatchObject(refused);
    expect(thrown(() => runOf({ mode: "image", model: "m" }))).toMatchObject({
      violations: [{ field: "media_generation.model", reason: "UNSUPPORTED_CAPABILITY" }],
    });
    const workflow = { workflow: { nodes: [{ id: "in", type: "input" }] } };
    expect(thrown(() => runOf({ mode: "image" }, workflow))).toMatchObject({
      violations: [{ reason: "CONTRADICTION" }],
    });
  });
});

/** Returns the violations of an agent. */
function violationsOf(spec: MessageInitShape<typeof AgentSpecSchema>, priced = {}) {
  const models = catalogOf({ ...painter, ...priced });
  const given = create(AgentSpecSchema, { id: "a", name: "a", model: "m", ...spec });
  const { violations } = checkSpec(given, { tools: [], models });
  return violations.map(({ field, reason }) => `${field} ${reason}`);
}

// Requirement: CFG-11, TURN-4
test("an agent names only models that generate, and that have a price under a cap on cost", () => {
  expect(violationsOf({ media: { imageModel: "painter" } })).toEqual([]);
  expect(violationsOf({ media: { imageModel: "m", speechModel: "gone" } })).toEqual([
    "media.image_model UNSUPPORTED_CAPABILITY",
    "media.speech_model MODEL_NOT_FOUND",
  ]);
  const budgets = { maxCostUsd: 1 };
  const drawing = { nodes: [{ id: "in", type: "input" }] };
  const capped = { model: "", workflow: drawing, media: { imageModel: "painter" }, budgets };
  expect(violationsOf(capped)).toEqual(["budgets.max_cost_usd UNKNOWN_COST"]);
  expect(violationsOf(capped, { pricing: { usdPerImage: 0.04 } })).toEqual([]);
});

// Requirement: CFG-11, TURN-4
test("a model that generates media in place of text answers no agent and no guard", () => {
  const input = [{ name: "g", model: { id: "painter", prompt: "Is it safe?" } }];
  const guardrails = fromJson(ValueSchema, { input });
  expect(
    violationsOf({ model: "painter", planningEnabled: true, planningModel: "painter" }),
  ).toEqual(["model UNSUPPORTED_CAPABILITY", "planning_model UNSUPPORTED_CAPABILITY"]);
  expect(violationsOf({ sections: { guardrails } })).toContain(
    "sections.guardrails.input[0].model.id UNSUPPORTED_CAPABILITY",
  );
});

// Requirement: WF-1
test("a node generates media only if its agent has a model for them", () => {
  const workflow = {
    nodes: [
      { id: "in", type: "input" },
      { id: "draw", type: "media:image", properties: { size: "64x48" } },
      { id: "say", type: "media", properties: { media: "speech" } },
      { id: "film", type: "media:video" },
    ],
    edges: ["draw", "say", "film"].map((target) => ({ source: "in", target })),
  };
  expect(violationsOf({ model: "", workflow, media: { imageModel: "painter" } })).toEqual([
    "workflow.nodes[2].type UNIMPLEMENTED",
    "workflow.nodes[3].type UNIMPLEMENTED",
  ]);
});
