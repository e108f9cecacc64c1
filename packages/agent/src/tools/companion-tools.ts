import type { ToolDescriptor } from "@reeve/contracts/tool";
import { delegateIdOf } from "../delegates/delegate-tool.ts";
import {
  memoryReadName,
  parallelSubtasksName,
  retrieveArtifactName,
  runSubtaskName,
  runtimeSource,
} from "./runtime-tools.ts";

/**
 * Returns the names of the tools that the results of `tools` may tell a model to call: a shortened result of a toolhost names
 * `retrieve_artifact`, and that of a subtask `memory_read`.
 */
export function companionsOf(tools: Iterable<ToolDescriptor>): readonly string[] {
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
  ];
}
