import type { NodeType } from "../node-type.ts";
import { searchNodeTypes } from "../search-node-types.ts";
import { nodeTypeLine, nodeTypeSummary } from "./describe-node-type.ts";

/** How many characters of the types of tools and agents the prompt lists. */
const maxListed = 40_000;

/** The system prompt of the subtask that plans a workflow. */
export const buildInstructions = `You plan workflows. A workflow is a directed graph without cycles: nodes do the work, and each edge passes an output of one node to an input of another one.
- Each node has a unique id (letters, digits, "_", "-"), a type from the list, and its properties.
- An input has its value from one edge, or from a constant in properties.inputs. An input with * needs one of the two.
- source_handle names an output, perhaps with a path into its value, such as result.items; target_handle names an input. Leave one out if the node has only one.
- An edge with the target_handle $after only makes a node wait.
- Nodes behind the branch of a condition that is not taken are skipped; join branches with a merge.
- Nodes that do not depend on each other run at the same time.
- Begin with one input node if the workflow has an input, and end with an output node.
Prefer few nodes. Use only the types that are listed.`;

/** Returns the task of the subtask that plans a workflow: the objective, and the types of nodes, those that match it first. */
export function buildTask(objective: string, types: readonly NodeType[]): string {
  const builtin = types.filter(({ id, problem }) => !id.includes(":") && problem === "");
  const named = types.filter(({ id }) => id.includes(":"));
  const matching = new Set(searchNodeTypes(named, objective));
  const ordered = [...matching, ...named.filter((type) => !matching.has(type))];
  const lines: string[] = [];
  let room = maxListed;
  for (const type of ordered) {
    const line = nodeTypeLine(type);
    room -= line.length;
    if (room < 0) break;
    lines.push(line);
  }
  const left = ordered.length - lines.length;
  return [
    `Plan a workflow for this objective:\n${objective}`,
    `Built-in types of nodes, as JSON:\n${builtin.map((type) => JSON.stringify(nodeTypeSummary(type))).join("\n")}`,
    `Types for the tools, agents, and workflows:\n${lines.join("\n") || "none"}`,
    ...(left > 0 ? [`${left} more types are not listed.`] : []),
  ].join("\n\n");
}
