import type { AgentSpec } from "@reeve/contracts/agent";
import type { DelegateAgent } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { unsupportedCapability } from "../../spec/unsupported-capability.ts";
import type { Toolbelt } from "../../tools/toolbelt.ts";
import { checkWorkflow } from "./check-workflow.ts";
import { needsModel } from "./needs-model.ts";
import type { CallableAgent } from "../node-catalog.ts";

/** Returns the agents that nodes can call, as far as their specs are known. */
export function callableAgents(delegates: readonly DelegateAgent[]): readonly CallableAgent[] {
  return delegates.flatMap(({ agentId, spec }) =>
    spec === undefined
      ? []
      : [
          {
            id: agentId,
            hasWorkflow: spec.workflow !== undefined,
            outputSchema: spec.outputSchema,
          },
        ],
  );
}

/**
 * Returns what is wrong with the workflow of an agent, and with fields that contradict it. The kind of a delegate is checked only if `known` has
 * it. An agent without a workflow needs a model.
 */
export function workflowProblems(
  spec: AgentSpec,
  { tools, excluded }: Pick<Toolbelt, "tools" | "excluded">,
  known: readonly DelegateAgent[] = [],
): readonly Violation[] {
  const { workflow, delegates } = spec;
  if (workflow === undefined) return missingModel(spec, "must not be empty");
  const catalog = { tools, agents: callableAgents(known) };
  return [
    ...missingModel(spec, "must not be empty: a node of the workflow calls the model"),
    ...contradictions(spec),
    ...checkWorkflow(workflow, { catalog, excluded, delegates }),
  ];
}

/** Returns what the specs of its delegates show to be wrong with the workflow of an agent: nodes of the wrong kind, and types that do not fit. */
export function workflowDelegateProblems(
  { workflow, delegates }: AgentSpec,
  known: readonly DelegateAgent[],
): readonly Violation[] {
  if (workflow === undefined || known.length === 0) return [];
  const catalog = { tools: [], agents: callableAgents(known) };
  const found = checkWorkflow(workflow, { catalog, excluded: new Map(), delegates });
  return found.filter(({ reason }) => reason === "WRONG_NODE_TYPE" || reason === "TYPE_MISMATCH");
}

function missingModel(spec: AgentSpec, description: string): readonly Violation[] {
  return spec.model === "" && spec.endpoint === undefined && needsModel(spec)
    ? [{ field: "model", description, reason: "STRING_MIN_LEN" }]
    : [];
}

/** Fields that decide how a model works, which a workflow does not honor. */
function contradictions({ planningEnabled, outputSchema }: AgentSpec): readonly Violation[] {
  const reason = unsupportedCapability;
  const planning = "a workflow has a graph in place of a plan; remove it";
  const answer = "the answer of a workflow is what its output nodes give; remove it";
  return [
    ...(planningEnabled ? [{ field: "planning_enabled", description: planning, reason }] : []),
    ...(outputSchema ? [{ field: "output_schema", description: answer, reason }] : []),
  ];
}

/** Returns warnings about fields that have no effect in a workflow. */
export function workflowWarnings(spec: AgentSpec): readonly string[] {
  if (spec.workflow === undefined) return [];
  const given: readonly (readonly [field: string, isSet: boolean])[] = [
    ["max_rounds", spec.maxRounds !== undefined],
    ["answer_policy", spec.answerPolicy !== undefined],
    ["questions", spec.questions !== undefined],
    ["skills", spec.skills.length > 0],
  ];
  return given
    .filter(([, isSet]) => isSet)
    .map(([field]) => `${field}: has an effect only in nodes that call the model`);
}
