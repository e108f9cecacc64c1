import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { delegateIdOf } from "../delegates/delegate-tool.ts";
import { openSkillName } from "./open-skill.ts";
import {
  memoryReadName,
  parallelSubtasksName,
  retrieveArtifactName,
  runSubtaskName,
  runtimeSource,
} from "./runtime-tools.ts";

/**
 * Returns the names of the tools that the results of `tools` may tell a model to call: a shortened result of a toolhost names
 * `retrieve_artifact`, and that of a subtask `memory_read`. The prompt of an agent with skills names `open_skill`.
 */
export function companionsOf(
  tools: Iterable<ToolDescriptor>,
  { skills }: Partial<Pick<AgentSpec, "skills">> = {},
): readonly string[] {
  const all = [...tools];
  const hasToolhostTools = all.some(({ source }) => source !== runtimeSource);
  const startsSubtasks = all.some(
    ({ name, source }) =>
      source === runtimeSource &&
      (name === runSubtaskName ||
        name === parallelSubtasksName ||
        delegateIdOf(name) !== undefined),
  );
  return [
    ...(hasToolhostTools ? [retrieveArtifactName] : []),
    ...(startsSubtasks ? [memoryReadName] : []),
    ...(skills === undefined || skills.length === 0 ? [] : [openSkillName]),
  ];
}
