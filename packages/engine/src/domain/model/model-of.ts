import type { ModelSpec, ProviderCapabilities } from "@reeve/contracts/agent";
import type { Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** The model that a frame talks to. */
export function modelOf({ head: { prepared } }: RunState, { id }: Frame): ModelSpec | undefined {
  return id === plannerId ? (prepared?.planningModel ?? prepared?.model) : prepared?.model;
}

/** What the provider of the frame's model is able to do; undefined: everything. */
export function capabilitiesOf(
  { head: { prepared } }: RunState,
  { id }: Frame,
): ProviderCapabilities | undefined {
  return id === plannerId ? prepared?.planningCapabilities : prepared?.capabilities;
}
