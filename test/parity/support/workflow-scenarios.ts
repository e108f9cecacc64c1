import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { graph } from "@reeve/engine/test/support/workflow/workflow-graph";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { Scenario } from "./backend.ts";
import { commonTools } from "./backend.ts";
import { call, inputOf, isPending, once } from "./played.ts";

const input = { type: "input" };
const output = { type: "output" };

/** A branch with a map, an agent, an approval, a model, a delay, and another workflow. */
const whole = graph(
  {
    in: input,
    each: {
      type: "map",
      properties: { node_type: "tool:add_todo", inputs: { items: ["a", "b"] } },
    },
    find: { type: "agent:wf-finder" },
    keep: { type: "tool:memory_write", properties: { inputs: { key: "found" } } },
    ask: { type: "approval", properties: { question: "Go on?" } },
    say: { type: "model", properties: { instructions: "Say it." } },
    wait: { type: "delay", properties: { seconds: 0.01 } },
    sub: { type: "workflow:wf-inner" },
    never: { type: "tool:list_todos" },
    all: { type: "merge", properties: { mode: "object" } },
    out: output,
  },
  "in -> each.$after",
  "in -> find.prompt",
  "find -> keep.value",
  "keep -> ask.value",
  "ask.rejected -> never.$after",
  "ask.approved.value -> say.prompt",
  "say -> wait",
  "wait -> sub.input",
  "each -> all",
  "sub -> all",
  "never -> all",
  "all -> out",
);

const inner = graph(
  {
    in: input,
    keep: { type: "tool:memory_write", properties: { inputs: { key: "said" } } },
    out: output,
  },
  "in -> keep.value",
  "keep -> out",
);

const failing = graph(
  {
    in: input,
    broken: { type: "tool:complete_todo", properties: { on_error: "continue", inputs: { id: 7 } } },
    again: { type: "tool:complete_todo", properties: { inputs: { id: 8 } } },
    out: output,
  },
  "in -> broken.$after",
  "broken.error -> again.$after",
  "again -> out",
);

const tools = fromJson(ListValueSchema, ["agent_*", ...commonTools.values.flatMap(nameIn)]);

function nameIn({ kind }: (typeof commonTools.values)[number]): readonly string[] {
  return kind.case === "stringValue" ? [kind.value] : [];
}

const media = { imageModel: "openai:painter" };
const generates = fromJson(ListValueSchema, ["generate_*"]);

const play = (asked: Asked): Played => ({ text: `I heard: ${inputOf(asked)}` });

const drawing = graph(
  {
    in: input,
    draw: { type: "media:image", properties: { size: "64x64" } },
    out: output,
  },
  "in -> draw",
  "draw.result.artifacts.0.media_type -> out",
);

/** Scenarios of agents whose calls come from a graph. */
export const workflowScenarios: readonly Scenario[] = [
  {
    name: "workflow",
    spec: { delegates: ["wf-finder", "wf-inner"], workflow: whole, allowedToolPatterns: tools },
    agents: [
      { id: "wf-finder", instructions: "You find things." },
      { id: "wf-inner", workflow: inner },
    ],
    play,
    act: (event, people) =>
      isPending(event) ? people.decide(event, { approved: true }) : undefined,
  },
  { name: "workflow that fails", spec: { workflow: failing }, play },
  {
    name: "workflow that generates an image",
    spec: { model: "", workflow: drawing, media, allowedToolPatterns: generates },
    play,
  },
  {
    name: "image for a model",
    spec: { media, allowedToolPatterns: generates },
    play: once(call("generate_image", { prompt: "a cat" })),
  },
];
