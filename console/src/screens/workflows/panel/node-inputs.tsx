import type { JsonValue } from "@bufbuild/protobuf";
import type { NodeType } from "@reeve/agent/workflow/node-type";
import { afterHandle } from "@reeve/agent/workflow/node-type";
import type { Workflow, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { useId, useState } from "react";
import { addEdge, changeNode, changeProperty } from "../../../workflow/graph/edit-graph.ts";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import { fieldOf } from "../../../workflow/graph/property-fields.ts";
import type { FieldProblem } from "../../../workflow/graph/sort-problems.ts";
import { isObject } from "../../../workflow/json-object.ts";
import type { TypeOf } from "../../../workflow/node-types.ts";
import type { DraftActions } from "../use-draft.ts";
import { EdgeRow } from "./edge-row.tsx";
import { edgesInto, sourcesFor } from "./edge-sources.ts";
import { PropertyInput } from "./property-input.tsx";
import { SourceChoice } from "./source-choice.tsx";

export interface NodeInputsProps {
  readonly node: WorkflowNode;
  readonly type: NodeType | undefined;
  readonly graph: Workflow;
  readonly typeOf: TypeOf;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly problems: readonly FieldProblem[];
  readonly change: DraftActions["change"];
}

/** Where the inputs of a node have their values from: edges, which can be made here without a mouse, or constants. */
export function NodeInputs(props: NodeInputsProps) {
  const { node, type, ports } = props;
  const own = ports.get(node.id);
  const constants = isObject(node.properties?.["inputs"]) ? node.properties["inputs"] : {};
  const named = own?.inputs.map(({ handle }) => handle) ?? [];
  const further = Object.keys(constants).filter((handle) => !named.includes(handle));
  return (
    <fieldset className="node-inputs">
      <legend>Inputs</legend>
      {named.length + further.length === 0 && own?.takesOthers !== true && (
        <p className="muted">This node has no inputs.</p>
      )}
      {[...named, ...further].map((handle) => (
        <NodeInput key={handle} {...props} handle={handle} constant={constants[handle]} />
      ))}
      {own?.takesOthers === true && <FurtherInput {...props} taken={[...named, ...further]} />}
      {type !== undefined && <WaitsFor {...props} />}
    </fieldset>
  );
}

interface NodeInputProps extends NodeInputsProps {
  readonly handle: string;
  readonly constant: JsonValue | undefined;
}

function NodeInput({ handle, constant, ...props }: NodeInputProps) {
  const { node, type, graph, typeOf, ports, problems, change } = props;
  const id = useId();
  const port = type?.inputs.find((each) => each.handle === handle);
  const edges = edgesInto(graph, node.id, handle, typeOf);
  const sources = sourcesFor(graph, node.id, ports);
  const isRequired = port?.required === true;
  const setConstant = (value: JsonValue | undefined) => {
    const inputs = isObject(node.properties?.["inputs"]) ? node.properties["inputs"] : {};
    const next = changeProperty({ properties: inputs }, handle, value);
    const all = Object.keys(next).length === 0 ? undefined : next;
    change(
      (before) => changeNode(before, node.id, { properties: changeProperty(node, "inputs", all) }),
      `${node.id} input ${handle}`,
    );
  };
  const own = problems.filter(({ field }) => field === `properties.inputs.${handle}`);
  return (
    <div className="node-input" role="group" aria-label={`Input ${handle}`}>
      <span className="mono">
        {handle}
        {isRequired && <span className="muted"> (required)</span>}
      </span>
      {edges.map((edge) => (
        <EdgeRow key={edge.index} edge={edge} sources={sources} change={change} />
      ))}
      {(edges.length === 0 || port?.multiple === true) && (
        <SourceChoice
          label={`Source of ${handle}`}
          empty={edges.length === 0 ? "Connect to an output …" : "Connect to another output …"}
          sources={sources}
          onChoose={({ source, sourceHandle }) =>
            change((before) =>
              addEdge(before, { source, sourceHandle, target: node.id, targetHandle: handle }),
            )
          }
        />
      )}
      {port?.multiple !== true && (
        <div className="field">
          <label htmlFor={id}>{edges.length === 0 ? "or a constant" : "without a value"}</label>
          <PropertyInput
            id={id}
            input={fieldOf(handle, port?.schema ?? {})}
            value={constant}
            hints={[]}
            onChange={setConstant}
          />
        </div>
      )}
      {(port?.description ?? "") !== "" && <span className="hint">{port?.description}</span>}
      {own.map(({ message }) => (
        <span key={message} className="bad">
          {message}
        </span>
      ))}
    </div>
  );
}

/** An input that the type of the node does not name. */
function FurtherInput(props: NodeInputsProps & { readonly taken: readonly string[] }) {
  const { node, graph, ports, taken, change } = props;
  const [name, setName] = useState("");
  const isUsable = /^[^.]{1,128}$/.test(name) && !taken.includes(name);
  return (
    <div className="node-input" role="group" aria-label="A further input">
      <input
        className="input mono"
        aria-label="Name of a further input"
        placeholder="Name of a further input"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <SourceChoice
        label="Source of the further input"
        empty={isUsable ? "Connect to an output …" : "Name the input first"}
        isDisabled={!isUsable}
        sources={sourcesFor(graph, node.id, ports)}
        onChoose={({ source, sourceHandle }) => {
          change((before) =>
            addEdge(before, { source, sourceHandle, target: node.id, targetHandle: name }),
          );
          setName("");
        }}
      />
    </div>
  );
}

/** The nodes for which a node only waits. */
function WaitsFor(props: NodeInputsProps) {
  const { node, graph, typeOf, ports, change } = props;
  const edges = edgesInto(graph, node.id, afterHandle, typeOf);
  const sources = sourcesFor(graph, node.id, ports, true);
  return (
    <div className="node-input" role="group" aria-label="Waits for">
      <span>Also waits for</span>
      {edges.map((edge) => (
        <EdgeRow key={edge.index} edge={edge} sources={sources} change={change} />
      ))}
      <SourceChoice
        label="A node to wait for"
        empty="Wait for a node or an output …"
        sources={sources}
        onChoose={({ source, sourceHandle }) =>
          change((before) =>
            addEdge(before, { source, sourceHandle, target: node.id, targetHandle: afterHandle }),
          )
        }
      />
    </div>
  );
}
