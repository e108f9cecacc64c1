import type { JsonValue } from "@bufbuild/protobuf";
import type { NodeType } from "@reeve/agent/workflow/node-type";
import type { NodeType as ListedType, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { ReactNode } from "react";
import { useId, useState } from "react";
import { changeNode, changeProperty } from "../../../workflow/graph/edit-graph.ts";
import { propertyFields } from "../../../workflow/graph/property-fields.ts";
import type { FieldProblem } from "../../../workflow/graph/sort-problems.ts";
import type { DraftActions } from "../use-draft.ts";
import { NodeInputs } from "./node-inputs.tsx";
import type { NodeInputsProps } from "./node-inputs.tsx";
import { PropertyInput } from "./property-input.tsx";

interface NodePanelProps extends Omit<NodeInputsProps, "node" | "type"> {
  readonly node: WorkflowNode;
  /** Undefined: the type of the node does not exist. */
  readonly type: NodeType | undefined;
  readonly listed: readonly ListedType[];
  readonly problems: readonly FieldProblem[];
  readonly change: DraftActions["change"];
  readonly onRenamed: (id: string) => void;
}

/** What a person can change of a node, as a form. */
export function NodePanel(props: NodePanelProps) {
  const { node, type, listed, problems, change, onRenamed } = props;
  const { id, properties = {} } = node;
  const set = (name: string, value: JsonValue | undefined) =>
    change(
      (graph) => changeNode(graph, id, { properties: changeProperty(node, name, value) }),
      `${id} ${name}`,
    );
  return (
    <form
      className="node-panel"
      aria-label={`Node ${id}`}
      onSubmit={(event) => event.preventDefault()}
    >
      <p className="muted">{type?.description ?? `There is no type ${node.type}.`}</p>
      <IdField node={node} taken={props.graph.nodes} problems={problems} onChange={onRenamed} />
      <Field name="name" label="Name for people" problems={problems}>
        {(field) => (
          <input
            id={field}
            className="input"
            value={node.name}
            placeholder={id}
            onChange={({ target }) =>
              change((graph) => changeNode(graph, id, { name: target.value }), `${id} name`)
            }
          />
        )}
      </Field>
      {propertyFields(type?.propertiesSchema ?? {}).map((property) => (
        <Field
          key={property.name}
          name={`properties.${property.name}`}
          label={`${property.name}${property.isRequired ? " (required)" : ""}`}
          about={property.description}
          problems={problems}
        >
          {(field) => (
            <PropertyInput
              id={field}
              input={property.input}
              value={properties[property.name]}
              hints={hintsFor(property.name, listed)}
              onChange={(value) => set(property.name, value)}
            />
          )}
        </Field>
      ))}
      <NodeInputs {...props} type={type} />
      <Others problems={problems} type={type} />
    </form>
  );
}

interface IdFieldProps {
  readonly node: WorkflowNode;
  readonly taken: readonly WorkflowNode[];
  readonly problems: readonly FieldProblem[];
  readonly onChange: (id: string) => void;
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The id changes when it is valid and free: edges and places refer to it. */
function IdField({ node, taken, problems, onChange }: IdFieldProps) {
  const [written, setWritten] = useState<string | undefined>();
  const isTaken =
    written !== undefined && written !== node.id && taken.some(({ id }) => id === written);
  const isMalformed = written !== undefined && !idPattern.test(written);
  return (
    <Field name="id" label="Id" problems={problems}>
      {(field) => (
        <>
          <input
            id={field}
            className="input mono"
            value={written ?? node.id}
            onChange={(event) => setWritten(event.target.value)}
            onBlur={() => {
              if (written !== undefined && !isTaken && !isMalformed) onChange(written);
              setWritten(undefined);
            }}
          />
          {isTaken && <span className="bad">Another node has this id.</span>}
          {isMalformed && (
            <span className="bad">Use letters, digits, &quot;-&quot;, and &quot;_&quot;.</span>
          )}
        </>
      )}
    </Field>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly about?: string;
  readonly problems: readonly FieldProblem[];
  readonly children: (id: string) => ReactNode;
}

function Field({ name, label, about = "", problems, children }: FieldProps) {
  const id = useId();
  const own = problems.filter(({ field }) => field === name || field.startsWith(`${name}.`));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {about !== "" && <span className="hint">{about}</span>}
      {own.map(({ message }) => (
        <span key={message} className="bad">
          {message}
        </span>
      ))}
    </div>
  );
}

/** What is wrong with the node and belongs to no field of the form. */
function Others({
  problems,
  type,
}: {
  readonly problems: readonly FieldProblem[];
  readonly type: NodeType | undefined;
}) {
  const fields = new Set(
    propertyFields(type?.propertiesSchema ?? {}).map(({ name }) => `properties.${name}`),
  );
  const shown = ({ field }: FieldProblem) =>
    field === "id" ||
    field === "name" ||
    field.startsWith("properties.inputs.") ||
    [...fields].some((each) => field === each || field.startsWith(`${each}.`));
  const others = problems.filter((each) => !shown(each));
  if (others.length === 0) return null;
  return (
    <ul className="violations">
      {others.map(({ field, message }) => (
        <li key={`${field} ${message}`}>
          {field !== "" && <code>{field}</code>} {message}
        </li>
      ))}
    </ul>
  );
}

/** Suggests the names of what nodes can call. */
function hintsFor(property: string, listed: readonly ListedType[]): readonly string[] {
  const ids = listed.map(({ id }) => id).filter((id) => id.includes(":"));
  if (property === "node_type") return ids;
  if (!["tool", "agent", "workflow"].includes(property)) return [];
  return ids
    .filter((id) => id.startsWith(`${property}:`))
    .map((id) => id.slice(property.length + 1));
}
