import { delegateIdOf } from "@reeve/agent/delegates/delegate-tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { buildWorkflowName, searchNodesName } from "@reeve/agent/workflow/building/editor-tools";
import type { WorkflowContext } from "@reeve/agent/workflow/check/workflow-context";
import { callableAgents } from "@reeve/agent/workflow/check/workflow-problems";
import { PermissionClass } from "@reeve/contracts/tool";
import { agentOf } from "../delegates/agent-of.ts";
import type { RunState } from "../state/run-state.ts";

const notForNodes: ReadonlySet<string> = new Set([
  finishSubtaskName,
  buildWorkflowName,
  searchNodesName,
]);

/** Returns what the workflows that a run builds can use: the tools and the delegates of its agent. Tools of the editor are not among them. */
export function nodeRegistry(state: Pick<RunState, "head">): WorkflowContext {
  const { spec, prepared } = agentOf(state, undefined);
  const { delegates = [] } = state.head.created ?? {};
  const own = spec?.delegates ?? [];
  const tools = (prepared?.tools ?? []).filter(
    ({ name, permissionClass }) =>
      !notForNodes.has(name) &&
      delegateIdOf(name) === undefined &&
      permissionClass !== PermissionClass.EDITOR_MUTATE,
  );
  const agents = callableAgents(delegates.filter(({ agentId }) => own.includes(agentId)));
  return { catalog: { tools, agents }, excluded: new Map(), delegates: own };
}
