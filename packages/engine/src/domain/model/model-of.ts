import type { ModelSpec, ProviderCapabilities } from "@reeve/contracts/agent";
import type { Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the model of a frame: its own, or the one that took over from it. */
export function modelOf(
  { head: { prepared } }: RunState,
  { id, fallback }: Frame,
): ModelSpec | undefined {
  if (fallback > 0) return prepared?.fallbacks[fallback - 1]?.model;
  return id === plannerId ? (prepared?.planningModel ?? prepared?.model) : prepared?.model;
}

/** Returns the capabilities of the frame's model. Undefined: it supports everything. */
export function capabilitiesOf(
  { head: { prepared } }: RunState,
  { id, fallback }: Frame,
): ProviderCapabilities | undefined {
  if (fallback > 0) return prepared?.fallbacks[fallback - 1]?.capabilities;
  return id === plannerId ? prepared?.planningCapabilities : prepared?.capabilities;
}

/** Returns the model that takes over from the model of a frame. Undefined: none does. */
export function nextModelOf(
  { head: { prepared } }: RunState,
  { fallback }: Frame,
): ModelSpec | undefined {
  return prepared?.fallbacks[fallback]?.model;
}
