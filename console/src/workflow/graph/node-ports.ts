import { afterHandle, errorHandle } from "@reeve/agent/workflow/node-type";
import type { NodePort } from "@reeve/agent/workflow/node-type";
import { sourceHandleOf, targetHandleOf } from "@reeve/agent/workflow/handles";
import type { Workflow, WorkflowEdge, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { TypeOf } from "../node-types.ts";

/** A connector of a node, as the canvas shows it. */
export interface Port {
  readonly handle: string;
  readonly description: string;
  /** Whether the node needs a value, and has none. */
  readonly isMissing: boolean;
}

export interface NodePorts {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Whether an edge may lead to an input of another name. */
  readonly takesOthers: boolean;
}

/** The connector of a node as a whole, from which an edge only makes its target wait. */
export const wholeHandle = "$whole";
/** The connector for an input that the node does not have yet. */
export const otherHandle = "$other";

/** Returns the connectors of each node: those of its type, and those that its edges name beside them. */
export function portsOf(
  { nodes, edges }: Pick<Workflow, "nodes" | "edges">,
  typeOf: TypeOf,
): ReadonlyMap<string, NodePorts> {
  const types = new Map(nodes.map((node) => [node.id, typeOf(node)]));
  const known = edges.map((edge) =>
    drawnEnds(edge, types.get(edge.source), types.get(edge.target)),
  );
  const bySource = Map.groupBy(known, ({ source }) => source);
  const byTarget = Map.groupBy(known, ({ target }) => target);
  return new Map(
    nodes.map((node) => {
      const type = types.get(node.id);
      const to = new Set(byTarget.get(node.id)?.map(({ targetHandle }) => targetHandle));
      const from = new Set(bySource.get(node.id)?.map(({ sourceHandle }) => sourceHandle));
      const constants = constantNames(node);
      const isMissing = ({ handle, required }: NodePort) =>
        required && !to.has(handle) && !constants.has(handle);
      const continues = node.properties?.["on_error"] === "continue";
      const outputs = (type?.outputs ?? []).filter(
        ({ handle }) => handle !== errorHandle || continues || from.has(handle),
      );
      return [
        node.id,
        {
          inputs: withNamed(type?.inputs ?? [], to, [afterHandle], isMissing),
          outputs: withNamed(outputs, from, [wholeHandle], () => false),
          takesOthers: type?.takesOtherInputs ?? false,
        },
      ];
    }),
  );
}

/** Returns the ends of an edge with the connectors that an empty name stands for. */
export function drawnEnds(
  edge: WorkflowEdge,
  source: ReturnType<TypeOf>,
  target: ReturnType<TypeOf>,
): Pick<WorkflowEdge, "source" | "sourceHandle" | "target" | "targetHandle"> {
  const from = source && sourceHandleOf(edge, source)?.handle;
  const to = target && targetHandleOf(edge, target);
  const isWhole = edge.targetHandle === afterHandle && edge.sourceHandle === "";
  return {
    source: edge.source,
    target: edge.target,
    sourceHandle: isWhole ? wholeHandle : (from ?? edge.sourceHandle.split(".", 1)[0] ?? ""),
    targetHandle: to ?? edge.targetHandle,
  };
}

function constantNames({ properties }: Pick<WorkflowNode, "properties">): ReadonlySet<string> {
  const constants = properties?.["inputs"];
  return new Set(typeof constants === "object" && constants !== null ? Object.keys(constants) : []);
}

function withNamed(
  ports: readonly NodePort[],
  named: ReadonlySet<string>,
  elsewhere: readonly string[],
  isMissing: (port: NodePort) => boolean,
): readonly Port[] {
  const own = new Set([...ports.map(({ handle }) => handle), ...elsewhere]);
  const others = [...named].filter((handle) => !own.has(handle));
  return [
    ...ports.map((port) => ({
      handle: port.handle,
      description: port.description,
      isMissing: isMissing(port),
    })),
    ...others.map((handle) => ({ handle, description: "", isMissing: false })),
  ];
}
