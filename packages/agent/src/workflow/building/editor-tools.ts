import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { runtimeTool } from "../../tools/runtime-tool.ts";

export const searchNodesName = "search_nodes";
export const buildWorkflowName = "build_workflow";

/** The tools of the runtime that only runs of an editor have. */
export const editorTools: readonly ToolDescriptor[] = [
  runtimeTool(
    searchNodesName,
    PermissionClass.SAFE,
    "Searches the types of nodes that a workflow may have, and returns their inputs, outputs, and properties.",
    {
      query: {
        type: "string",
        description: "Words to search for in ids, titles, and descriptions. Empty: all types.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 50,
        description: "The maximum number of types. Default: 10.",
      },
    },
    ["query"],
  ),
  runtimeTool(
    buildWorkflowName,
    PermissionClass.EDITOR_MUTATE,
    "Plans a workflow for an objective: a valid graph of nodes and edges. Changes nothing; apply the graph with the tools of the editor.",
    {
      objective: {
        type: "string",
        minLength: 1,
        maxLength: 20_000,
        description: "What the workflow is to do, with everything that has to be known for it.",
      },
    },
    ["objective"],
  ),
];
