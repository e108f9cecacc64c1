import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MountedSkillSchema, ToolDescriptor } from "@reeve/contracts/tool";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { Frame } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns the skills that the sandbox of a call has read-only: those of the agent that calls, in the versions with which the run was
 * prepared. None for tools that use no sandbox, and for pools that mount none. A version that no process has is left out, as `open_skill`
 * does not find it either.
 */
export async function mountedSkills(
  state: RunState,
  frame: Frame,
  { source, pool }: Pick<ToolDescriptor, "source" | "pool">,
  ports: Pick<RunPorts, "catalogs" | "skills">,
  signal: AbortSignal,
): Promise<readonly MessageInitShape<typeof MountedSkillSchema>[]> {
  const pinned = workingAgent(state, frame).prepared?.skills ?? [];
  const { skills } = ports;
  if (pinned.length === 0 || source !== "builtin" || skills?.artifactOf === undefined) return [];
  if (!mountsSkills(pool, ports)) return [];
  const tenant = state.head.created?.tenant ?? "";
  const mounted = [];
  for (const { name, digest } of pinned) {
    const artifactId = await skills.artifactOf(tenant, { name, digest }, signal);
    if (artifactId !== undefined) mounted.push({ name, digest, artifactId });
  }
  return mounted;
}

/** Whether a toolhost of a pool has sandboxes that mount skills. */
function mountsSkills(pool: string, { catalogs }: Pick<RunPorts, "catalogs">): boolean {
  return catalogs().tools.some((each) => each.pool === pool && each.sandbox?.mountsSkills === true);
}
