import type { JsonValue } from "@bufbuild/protobuf";
import type { WorkflowEdge } from "@reeve/contracts/extensions/workflow";
import { recordIn } from "./json-text.ts";
import type { NodePort, NodeType } from "./node-type.ts";
import { afterHandle, errorHandle } from "./node-type.ts";

/** The output that an edge comes from, and the part of its value that it passes. */
export interface SourceHandle {
  readonly handle: string;
  /** The keys and indexes that lead to the part. Empty: the whole value. */
  readonly path: readonly string[];
}

/**
 * Returns the output that an edge names, such as `result` or `result.items.0`. Empty stands for the only output, beside that of errors.
 * Undefined: the edge names none although the node has several, or none.
 */
export function sourceHandleOf(
  { sourceHandle }: Pick<WorkflowEdge, "sourceHandle">,
  { outputs }: Pick<NodeType, "outputs">,
): SourceHandle | undefined {
  const [handle = "", ...path] = sourceHandle.split(".");
  if (handle !== "") return { handle, path };
  const [only, another] = outputs.filter((each) => each.handle !== errorHandle);
  return only === undefined || another !== undefined ? undefined : { handle: only.handle, path };
}

/**
 * Returns the input that an edge names. Empty stands for the only input, or the only required one. Undefined: the edge names none although the
 * node has several, or none.
 */
export function targetHandleOf(
  { targetHandle }: Pick<WorkflowEdge, "targetHandle">,
  { inputs }: Pick<NodeType, "inputs">,
): string | undefined {
  return targetHandle === "" ? mainInput(inputs)?.handle : targetHandle;
}

/** Whether an input beside those of a type may have a name: no dots and no control characters, at most 128 characters. */
export function isInputName(name: string): boolean {
  return /^[^.\p{Cc}]{1,128}$/u.test(name) && name !== "__proto__";
}

/** Returns the only input, or else the only required one. */
export function mainInput(inputs: readonly NodePort[]): NodePort | undefined {
  const [only, another] = inputs;
  if (another === undefined) return only;
  const required = inputs.filter((each) => each.required);
  return required.length === 1 ? required[0] : undefined;
}

/** Whether an edge only makes its target wait, and passes no value. */
export function isOrderOnly({ targetHandle }: Pick<WorkflowEdge, "targetHandle">): boolean {
  return targetHandle === afterHandle;
}

/** Returns a part of a value, also of one that is a text in JSON. Undefined: it has no such part. */
export function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof found === "string") found = recordIn(found);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    // The property `length` of a list is its own, too.
    if (Array.isArray(found)) found = /^\d+$/.test(key) ? found[Number(key)] : undefined;
    else found = found[key];
  }
  return found;
}
