import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { SpecProblem } from "../../agents/spec-text.ts";
import type { Chosen } from "../canvas/canvas.tsx";

interface ProblemListProps {
  readonly problems: readonly SpecProblem[];
  readonly graph: Workflow;
  readonly onChoose: (chosen: Chosen) => void;
}

/** Everything that is wrong with the draft. Each problem leads to its node or edge. */
export function ProblemList({ problems, graph, onChoose }: ProblemListProps) {
  return (
    <ul className="violations" aria-label="Violations" aria-live="polite">
      {problems.map(({ field, message }) => {
        const part = partOf(field, graph);
        return (
          <li key={`${field} ${message}`}>
            {part === undefined ? (
              field !== "" && <code>{field}</code>
            ) : (
              <button type="button" className="button quiet" onClick={() => onChoose(part.chosen)}>
                {part.name}
              </button>
            )}{" "}
            {part !== undefined && part.rest !== "" && <code>{part.rest}</code>} {message}
          </li>
        );
      })}
    </ul>
  );
}

function partOf(
  field: string,
  { nodes, edges }: Workflow,
): { readonly chosen: Chosen; readonly name: string; readonly rest: string } | undefined {
  const [, list, at = "", rest = ""] =
    /^workflow\.(nodes|edges)\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
  const index = Number(at);
  const node = list === "nodes" ? nodes[index] : undefined;
  if (node !== undefined) return { chosen: { kind: "node", id: node.id }, name: node.id, rest };
  const edge = list === "edges" ? edges[index] : undefined;
  return edge && { chosen: { kind: "edge", index }, name: `${edge.source} → ${edge.target}`, rest };
}
