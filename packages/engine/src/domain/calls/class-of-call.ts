import { Phase } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Scope } from "../state/fact.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the class of the tool of a call, for its approval. `UNSPECIFIED`: the agent has no such tool. */
export function classOfCall(
  { frames }: Pick<RunState, "frames">,
  { phase, parentId }: Scope,
  tool: string,
): PermissionClass {
  const frame = frames.get(phase === Phase.PLANNER ? plannerId : parentId);
  return frame?.tools.get(tool)?.permissionClass ?? PermissionClass.UNSPECIFIED;
}
