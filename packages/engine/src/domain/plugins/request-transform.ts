import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { hookedPlugins, hookIdOf, stepPoint } from "./hook-points.ts";
import { onceForFrame } from "./once-for-hooks.ts";
import { idOf } from "./plugin-state.ts";

/** What plugins change in the request of the open step of a frame. */
export interface Transform {
  /** Added to the system prompt, in the order of the plugins. */
  readonly instructions: readonly string[];
  /** Names of the tools that the request does not have, with the plugin that removed them. */
  readonly removed: ReadonlyMap<string, string>;
}

const none: Transform = { instructions: [], removed: new Map() };

/** Returns what plugins change in the request of the open step of a frame. */
export const transformOf = onceForFrame(function transform(
  state: RunState,
  frame: Frame,
): Transform {
  const { plugins } = state;
  if (plugins === undefined) return none;
  const point = stepPoint(frame, HookPhase.BEFORE_INFERENCE);
  const instructions: string[] = [];
  const removed = new Map<string, string>();
  for (const each of hookedPlugins(state, point)) {
    const id = idOf(each);
    const { transform } = plugins.outcomes.get(hookIdOf(state, point, id))?.answer ?? {};
    if (transform === undefined) continue;
    if (transform.instructions !== "") instructions.push(transform.instructions);
    for (const name of transform.removedTools) removed.set(name, id);
  }
  return { instructions, removed };
});
