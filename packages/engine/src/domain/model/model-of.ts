import type { ModelSpec, ProviderCapabilities } from "@reeve/contracts/agent";
import type { Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the model of a frame. */
export function modelOf({ head: { prepared } }: RunState, { id }: Frame): ModelSpec | undefined {
  return id === plannerId ? (prepared?.planningModel ?? prepared?.model) : prepared?.model;
}

/** Returns the capabilities of the frame's model. Undefined: it supports everything. */
export function capabilitiesOf(
  { head: { prepared } }: RunState,
  { id }: Frame,
): ProviderCapabilities | undefined {
  return id === plannerId ? prepared?.planningCapabilities : prepared?.capabilities;
}
