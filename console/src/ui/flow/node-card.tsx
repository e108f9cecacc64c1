import { afterHandle } from "@reeve/agent/workflow/node-type";
import type { NodeProps } from "@xyflow/react";
import { Handle, Position, useUpdateNodeInternals } from "@xyflow/react";
import { useEffect, useRef } from "react";
import { otherHandle, wholeHandle } from "../../workflow/graph/node-ports.ts";
import type { Port } from "../../workflow/graph/node-ports.ts";
import { Badge } from "../badge.tsx";
import type { CardNode } from "./flow-parts.ts";

/** A node on the canvas: what it is, how it is doing, its inputs at the left, and its outputs at the right. */
export function NodeCard({ id, data }: NodeProps<CardNode>) {
  const { title, kind, ports, problems, state, isReadOnly } = data;
  const isWrong = problems.length > 0;
  const others = ports.takesOthers && !isReadOnly;
  const updateInternals = useUpdateNodeInternals();
  const connectors = JSON.stringify([
    ...ports.inputs.map(({ handle }) => handle),
    ...ports.outputs.map(({ handle }) => handle),
    others,
  ]);
  const measured = useRef(connectors);
  // React Flow finds connectors by itself only when the size of the card changes, and draws no edge to those it does not know.
  useEffect(() => {
    if (measured.current === connectors) return;
    measured.current = connectors;
    updateInternals(id);
  }, [updateInternals, id, connectors]);
  return (
    <div className="flow-card" data-state={state?.tone} data-wrong={isWrong || undefined}>
      <div className="flow-head" title={problems.map(({ message }) => message).join("\n")}>
        <Handle type="target" position={Position.Left} id={afterHandle} title="Wait for a node" />
        <span className="flow-title clip">{title}</span>
        <span className="flow-kind">
          <span className="clip">{kind}</span>
          {isWrong && (
            <span className="bad">
              {problems.length} {problems.length === 1 ? "problem" : "problems"}
            </span>
          )}
          {state !== undefined && (
            <Badge
              tone={state.tone}
              name={state.detail === "" ? state.name : `${state.name} ${state.detail}`}
            />
          )}
        </span>
        <Handle type="source" position={Position.Right} id={wholeHandle} title="Let a node wait" />
      </div>
      <div className="flow-ports">
        <ul>
          {ports.inputs.map((port) => (
            <PortRow key={port.handle} port={port} type="target" />
          ))}
          {others && <PortRow port={otherPort} type="target" />}
        </ul>
        <ul className="flow-outputs">
          {ports.outputs.map((port) => (
            <PortRow key={port.handle} port={port} type="source" />
          ))}
        </ul>
      </div>
    </div>
  );
}

const otherPort: Port = {
  handle: otherHandle,
  description: "Connect it to add an input.",
  isMissing: false,
};

interface PortRowProps {
  readonly port: Port;
  readonly type: "source" | "target";
}

function PortRow({ port: { handle, description, isMissing }, type }: PortRowProps) {
  return (
    <li className="flow-port" data-missing={isMissing || undefined} title={description}>
      <Handle
        type={type}
        position={type === "target" ? Position.Left : Position.Right}
        id={handle}
      />
      <span className="clip">{handle === otherHandle ? "+ input" : handle}</span>
    </li>
  );
}
