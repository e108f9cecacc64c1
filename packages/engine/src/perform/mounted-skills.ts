import type { MessageInitShape } from "@bufbuild/protobuf";
import { decideCall, maxPermissionWork } from "@reeve/agent/permission/decide-call";
import { policyLevel } from "@reeve/agent/permission/permission-levels";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import { openSkillName } from "@reeve/agent/tools/open-skill";
import { runtimeSource } from "@reeve/agent/tools/runtime-tools";
import type { SkillDescriptor } from "@reeve/contracts/agent";
import type { MountedSkillSchema, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { levelsFor } from "../domain/calls/call-permission.ts";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { Frame } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { policyNow, withheldNow } from "./policy-now.ts";

type SkillPorts = Pick<RunPorts, "catalogs" | "skills" | "policy" | "worker">;

/**
 * Returns the skills that the sandbox of a call has read-only: those of the agent that calls, in the versions with which the run was
 * prepared. None for tools that use no sandbox, and for pools that mount none. Those are left out that the agent may not open with
 * `open_skill`, and a version that no process has.
 */
export async function mountedSkills(
  state: RunState,
  frame: Frame,
  { source, pool }: Pick<ToolDescriptor, "source" | "pool">,
  ports: SkillPorts,
  signal: AbortSignal,
): Promise<readonly MessageInitShape<typeof MountedSkillSchema>[]> {
  const pinned = workingAgent(state, frame).prepared?.skills ?? [];
  const { skills } = ports;
  if (pinned.length === 0 || source !== "builtin" || skills?.artifactOf === undefined) return [];
  if (!mountsSkills(pool, ports)) return [];
  const tenant = state.head.created?.tenant ?? "";
  const found = await Promise.all(
    permitted(state, frame, pinned, ports).map(async ({ name, digest }) => {
      const artifactId = await skills.artifactOf?.(tenant, { name, digest }, signal);
      return artifactId === undefined ? [] : [{ name, digest, artifactId }];
    }),
  );
  return found.flat();
}

/** Whether a toolhost of a pool has sandboxes that mount skills. */
function mountsSkills(pool: string, { catalogs }: Pick<RunPorts, "catalogs">): boolean {
  return catalogs().tools.some((each) => each.pool === pool && each.sandbox?.mountsSkills === true);
}

/**
 * Returns the skills that the agent of a frame may open: it has `open_skill`, and no rule denies it with the name of the skill, or asks a person,
 * for whom a mount cannot wait.
 */
function permitted(
  state: RunState,
  frame: Frame,
  pinned: readonly SkillDescriptor[],
  ports: SkillPorts,
): readonly SkillDescriptor[] {
  const tools = workingAgent(state, frame).prepared?.tools ?? [];
  const tool = tools.find((each) => each.name === openSkillName && each.source === runtimeSource);
  if (tool === undefined || withheldNow(state, frame, tool, ports) !== undefined) return [];
  const ofPolicy = policyLevel(policyNow(state, ports).permissions);
  const levels = [...levelsFor(state, frame), ...(ofPolicy === undefined ? [] : [ofPolicy])];
  const work = new WorkBudget(maxPermissionWork);
  return pinned.filter(({ name }) => {
    const behavior = decideCall(levels, { tool, args: { name } }, work)?.behavior;
    return behavior === undefined || behavior === PermissionBehavior.ALLOW;
  });
}
