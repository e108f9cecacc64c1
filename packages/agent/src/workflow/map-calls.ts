import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import { defaultMapItems } from "./builtin-node-types.ts";
import type { NodeCall } from "./node-call.ts";
import { callOf } from "./node-call.ts";
import type { NodeCatalog } from "./node-catalog.ts";
import { calledTypeOf, itemInputOf } from "./node-catalog.ts";
import { mapTargetOf } from "./node-target.ts";

/** The calls of a map, in the order of its items, or why there are none. */
export type MapCalls =
  | { readonly kind: "calls"; readonly calls: readonly NodeCall[] }
  | { readonly kind: "failed"; readonly problem: string };

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
  const calls = items.flatMap(
    (value: JsonValue) => callOf(target, node, { ...shared, [item]: value }) ?? [],
  );
  return { kind: "calls", calls };
}

function maxItemsOf({ properties }: WorkflowNode): number {
  const value = properties?.["max_items"];
  return typeof value === "number" ? value : defaultMapItems;
}
