import type { ServiceImpl } from "@connectrpc/connect";
import { workflowViolations } from "@reeve/agent/workflow/check/check-workflow";
import type { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { reportedViolations } from "@reeve/platform/list-violations";
import { credentialOf } from "@reeve/platform/rpc/principal";
import { shapeOfUnvalidated } from "@reeve/platform/rpc/validate-interceptor";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import { listNodeTypes } from "../app/workflows/list-node-types.ts";
import type { WorkflowPorts } from "../app/workflows/workflow-context.ts";
import { workflowContextOf } from "../app/workflows/workflow-context.ts";

/** Returns the handlers of WorkflowService. */
export function workflowService(ports: WorkflowPorts): ServiceImpl<typeof WorkflowService> {
  return {
    listNodeTypes: async (request, context) => {
      const page = await listNodeTypes(ports, credentialOf(context), request, context.signal);
      return { nodeTypes: [...page.items], nextPageToken: page.nextPageToken };
    },
    validateWorkflow: async ({ workflow, agentId }, context) => {
      const { signal, values } = context;
      const checked = await workflowContextOf(ports, credentialOf(context), agentId, signal);
      const missing = { field: "workflow", description: "is required", reason: "REQUIRED" };
      const found = workflow === undefined ? [missing] : workflowViolations(workflow, checked);
      const all = mergeViolations(values.get(shapeOfUnvalidated), found);
      return { violations: [...reportedViolations(all)] };
    },
  };
}
