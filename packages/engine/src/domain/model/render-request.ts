import { summaryInstructionsOf } from "@reeve/agent/plugins/compaction-section";
import { exposeTools } from "@reeve/agent/tools/injected-args";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { summaryInstructions, transcript } from "../context/summary-prompt.ts";
import { transformOf } from "../plugins/request-transform.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { RenderedRequest } from "./model.ts";
import { requestTokens } from "./count-request.ts";
import { capabilitiesOf } from "./model-of.ts";
import { promptFor } from "./prompt-for.ts";
import { systemPrompt } from "./system-prompt.ts";

/** Returns the request for the next turn of a frame. Undefined `maxTokens`: the default of the provider. */
export function answerRequest(
  state: RunState,
  frame: Frame,
  maxTokens: number | undefined,
): RenderedRequest {
  const { spec } = workingAgent(state, frame);
  const capabilities = capabilitiesOf(state, frame);
  const { instructions, removed } = transformOf(state, frame);
  const tools = exposedTools(frame.tools, spec?.injectedToolArgs ?? {});
  return {
    instructions: [systemPrompt(state, frame), ...instructions].join("\n\n"),
    messages: promptFor(state, frame),
    tools: removed.size === 0 ? tools : tools.filter(({ name }) => !removed.has(name)),
    parallelToolCalls: capabilities?.parallelToolCalls ?? true,
    temperature: capabilities?.temperature === false ? undefined : spec?.temperature,
    maxTokens,
  };
}

/** Returns the request for a summary of the oldest `removed` units of a frame, with at most `maxInputTokens`. */
export function summaryRequest(
  state: RunState,
  frame: Frame,
  removed: number,
  maxInputTokens: number,
  maxTokens: number | undefined,
): RenderedRequest {
  const own = summaryInstructionsOf(workingAgent(state, frame).spec);
  const instructions = own === "" ? summaryInstructions : `${summaryInstructions}\n\n${own}`;
  const withText = (text: string): RenderedRequest => ({
    instructions,
    messages: [{ role: "user", text }],
    tools: [],
    parallelToolCalls: true,
    temperature: undefined,
    maxTokens,
  });
  const room = maxInputTokens - requestTokens(withText(""));
  return withText(transcript(frame, removed, room));
}

const exposed = new WeakMap<Frame["tools"], readonly ToolDescriptor[]>();

/** Adds the injected arguments to every tool except `finish_subtask`, whose arguments are the result of the subtask. */
function exposedTools(
  tools: Frame["tools"],
  injected: Readonly<Record<string, string>>,
): readonly ToolDescriptor[] {
  const before = exposed.get(tools);
  if (before !== undefined) return before;
  const finish = tools.get(finishSubtaskName);
  const others = [...tools.values()].filter((tool) => tool !== finish);
  const all = [...exposeTools(others, injected), ...(finish === undefined ? [] : [finish])];
  exposed.set(tools, all);
  return all;
}
