import type { ModelSpec, ProviderCapabilities } from "@reeve/contracts/agent";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the model of a frame: its own, or the one that took over from it. */
export function modelOf(state: RunState, frame: Frame): ModelSpec | undefined {
  const { id, fallback } = frame;
  const { prepared } = workingAgent(state, frame);
  if (fallback > 0) return prepared?.fallbacks[fallback - 1]?.model;
  return id === plannerId ? (prepared?.planningModel ?? prepared?.model) : prepared?.model;
}

/** Returns the capabilities of the frame's model. Undefined: it supports everything. */
export function capabilitiesOf(state: RunState, frame: Frame): ProviderCapabilities | undefined {
  const { id, fallback } = frame;
  const { prepared } = workingAgent(state, frame);
  if (fallback > 0) return prepared?.fallbacks[fallback - 1]?.capabilities;
  return id === plannerId ? prepared?.planningCapabilities : prepared?.capabilities;
}

/** Returns the model that takes over from the model of a frame. Undefined: none does. */
export function nextModelOf(state: RunState, frame: Frame): ModelSpec | undefined {
  return workingAgent(state, frame).prepared?.fallbacks[frame.fallback]?.model;
}
