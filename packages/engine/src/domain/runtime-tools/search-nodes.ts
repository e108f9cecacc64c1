import type { JsonObject } from "@bufbuild/protobuf";
import { nodeTypeSummary } from "@reeve/agent/workflow/building/describe-node-type";
import { allNodeTypes } from "@reeve/agent/workflow/node-catalog";
import { searchNodeTypes } from "@reeve/agent/workflow/search-node-types";
import { limitsOf } from "../budget/limits.ts";
import type { RunState } from "../state/run-state.ts";
import { nodeRegistry } from "../workflow-building/node-registry.ts";
import type { RuntimeToolResult } from "./runtime-tool-result.ts";
import { numberArgument, successResult, textArgument } from "./runtime-tool-result.ts";

const defaultLimit = 10;

/** Returns the types of nodes that match a query, as many as fit into a result. */
export function searchNodes(state: RunState, args: JsonObject): RuntimeToolResult {
  const types = allNodeTypes(nodeRegistry(state).catalog);
  const found = searchNodeTypes(types, textArgument(args, "query"));
  const shown = found.slice(0, numberArgument(args, "limit") ?? defaultLimit).map(nodeTypeSummary);
  const { resultBytes } = limitsOf(state);
  const contentOf = (count: number) =>
    JSON.stringify({ node_types: shown.slice(0, count), more: found.length - count });
  let count = shown.length;
  while (count > 1 && Buffer.byteLength(contentOf(count)) > resultBytes) count -= 1;
  return successResult(contentOf(count));
}
