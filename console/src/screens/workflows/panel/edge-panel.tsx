import { changeEdge, removeParts } from "../../../workflow/graph/edit-graph.ts";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import type { FieldProblem } from "../../../workflow/graph/sort-problems.ts";
import type { DraftActions } from "../use-draft.ts";
import { useId } from "react";

interface EdgePanelProps {
  readonly graph: Workflow;
  readonly index: number;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly problems: readonly FieldProblem[];
  readonly change: DraftActions["change"];
  readonly onRemoved: () => void;
}

/** An edge: which output it comes from, and to which input it leads. */
export function EdgePanel({ graph, index, ports, problems, change, onRemoved }: EdgePanelProps) {
  const edge = graph.edges[index];
  const [from, to] = [useId(), useId()];
  if (edge === undefined) return null;
  const outputs = ports.get(edge.source)?.outputs ?? [];
  const inputs = ports.get(edge.target)?.inputs ?? [];
  return (
    <form className="node-panel" aria-label="Edge" onSubmit={(event) => event.preventDefault()}>
      <div className="field">
        <label htmlFor={from}>Output of {edge.source}, and the part of its value after a dot</label>
        <input
          id={from}
          className="input mono"
          list={`${from}-list`}
          value={edge.sourceHandle}
          placeholder="the only output"
          onChange={({ target }) =>
            change(
              (before) => changeEdge(before, index, { sourceHandle: target.value }),
              `edge ${index} source`,
            )
          }
        />
        <datalist id={`${from}-list`}>
          {outputs.map(({ handle }) => (
            <option key={handle} value={handle} />
          ))}
        </datalist>
      </div>
      <div className="field">
        <label htmlFor={to}>Input of {edge.target}</label>
        <input
          id={to}
          className="input mono"
          list={`${to}-list`}
          value={edge.targetHandle}
          placeholder="the only input"
          onChange={({ target }) =>
            change(
              (before) => changeEdge(before, index, { targetHandle: target.value }),
              `edge ${index} target`,
            )
          }
        />
        <datalist id={`${to}-list`}>
          <option value="$after" />
          {inputs.map(({ handle }) => (
            <option key={handle} value={handle} />
          ))}
        </datalist>
        <span className="hint">
          <span className="mono">$after</span> passes no value: the node only waits.
        </span>
      </div>
      {problems.map(({ message }) => (
        <span key={message} className="bad">
          {message}
        </span>
      ))}
      <button
        type="button"
        className="button danger"
        onClick={() => {
          onRemoved();
          change((before) => removeParts(before, new Set(), new Set([index])));
        }}
      >
        Remove the edge
      </button>
    </form>
  );
}
