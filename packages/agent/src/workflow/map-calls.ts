import type { JsonObject } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { defaultMapItems } from "./builtin-node-types.ts";
import type { NodeCall } from "./node-call.ts";
import { callOf } from "./node-call.ts";
import type { NodeCatalog } from "./node-catalog.ts";
import { calledTypeOf, itemInputOf } from "./node-catalog.ts";
import type { NodeTarget } from "./node-target.ts";
import { mapTargetOf } from "./node-target.ts";
import { joinedProblem } from "./value-limits.ts";

/** The calls of a map, one for each item, or why there are none. */
export type MapCalls =
  | {
      readonly kind: "calls";
      readonly count: number;
      /** Builds the call of an item: all of them together may be much larger than the inputs. */
      readonly callAt: (item: number) => MapCall;
    }
  | { readonly kind: "failed"; readonly problem: string };

/** The call of an item, or why it has none. */
export type MapCall =
  | { readonly call: NodeCall; readonly problem?: undefined }
  | { readonly call?: undefined; readonly problem: string };

/** Returns the calls that a map makes with its inputs. */
export function mapCalls(
  node: WorkflowNode,
  { items = null, ...shared }: JsonObject,
  catalog: NodeCatalog,
): MapCalls {
  const failed = (problem: string): MapCalls => ({
    kind: "failed",
    problem: `node "${node.id}": ${problem}`,
  });
  if (!Array.isArray(items)) return failed("its input `items` is no list");
  const limit = maxItemsOf(node);
  if (items.length > limit) {
    return failed(`its list has ${items.length} items; the limit is ${limit}`);
  }
  const target = mapTargetOf(node);
  const called = calledTypeOf(node, catalog);
  const item = called && itemInputOf(node, called);
  if (target === undefined || item === undefined) return failed("no input takes its items");
  const problem = joinedProblem(shared);
  if (problem !== undefined) return failed(tooLarge(problem));
  return {
    kind: "calls",
    count: items.length,
    callAt: (index) => callWith(target, node, { ...shared, [item]: items[index] ?? null }),
  };
}

function callWith(target: NodeTarget, node: WorkflowNode, inputs: JsonObject): MapCall {
  const problem = joinedProblem(inputs);
  if (problem !== undefined) return { problem: tooLarge(problem) };
  const call = callOf(target, node, inputs);
  return call === undefined ? { problem: "it calls nothing" } : { call };
}

function tooLarge(problem: string): string {
  return `its inputs are too large or too deep: ${problem}`;
}

function maxItemsOf({ properties }: WorkflowNode): number {
  const value = properties?.["max_items"];
  return typeof value === "number" ? value : defaultMapItems;
}
