import { nodeTypeOf } from "@reeve/agent/workflow/node-catalog";
import { withWorkflowTools } from "@reeve/agent/workflow/wait-tools";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { TypeOf } from "../../workflow/node-types.ts";
import type { Frame, RunModel } from "../run-model.ts";

/** The graph that a part of a run follows. */
export interface RunGraph {
  readonly frame: Frame;
  /** Id of the agent that has it. */
  readonly agentId: string;
  readonly graph: Workflow;
  readonly typeOf: TypeOf;
  /** The text that the graph began with. */
  readonly input: string;
}

/** Returns the graphs of a run: its own, and those of the workflows that it called, in the order in which they began. */
export function runGraphs(run: RunModel): readonly RunGraph[] {
  return [...run.frames.values()].flatMap((frame) => {
    const isRoot = frame.kind === "root";
    const agentId = isRoot ? run.agentId : frame.agentId;
    const spec = isRoot ? run.spec : run.delegates.get(agentId);
    if (spec?.workflow === undefined) return [];
    const input = isRoot ? run.input : inputOf(run, frame);
    return [{ frame, agentId, graph: spec.workflow, typeOf: typesIn(run, agentId, spec), input }];
  });
}

const known = new WeakMap<Workflow, { readonly tools: number; readonly typeOf: TypeOf }>();

/** The types of nodes that an agent had in this run: the same function as long as its tools are the same. */
function typesIn(run: RunModel, agentId: string, { workflow }: AgentSpec): TypeOf {
  const delegate = run.prepared?.delegates.find((each) => each.agentId === agentId);
  const tools = [...(run.prepared?.tools ?? []), ...(delegate?.tools ?? [])];
  const before = workflow && known.get(workflow);
  if (before !== undefined && before.tools === tools.length) return before.typeOf;
  const byName = withWorkflowTools(new Map(tools.map((tool) => [tool.name, tool])));
  const agents = [...run.delegates].map(([id, spec]) => ({
    id,
    hasWorkflow: spec.workflow !== undefined,
    outputSchema: spec.outputSchema,
  }));
  const catalog = { tools: [...byName.values()], agents };
  const typeOf: TypeOf = (node) => nodeTypeOf(node, catalog);
  if (workflow !== undefined) known.set(workflow, { tools: tools.length, typeOf });
  return typeOf;
}

function inputOf(run: RunModel, { id }: Frame): string {
  const prompt = run.calls.get(id.split("/", 1)[0] ?? "")?.call.arguments?.["prompt"];
  return typeof prompt === "string" ? prompt : "";
}
