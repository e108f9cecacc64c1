import { create, toBinary } from "@bufbuild/protobuf";
import { allNodeTypes } from "@reeve/agent/workflow/node-catalog";
import { searchNodeTypes } from "@reeve/agent/workflow/search-node-types";
import type { ListNodeTypesRequest, NodeType } from "@reeve/contracts/extensions/workflow";
import { NodePortSchema, NodeTypeSchema } from "@reeve/contracts/extensions/workflow";
import type { Page } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import type { Credential } from "@reeve/platform/rpc/principal";
import type { WorkflowPorts } from "./workflow-context.ts";
import { workflowContextOf } from "./workflow-context.ts";

/** Returns a page of the node types that workflows of a caller may have. */
export async function listNodeTypes(
  ports: WorkflowPorts,
  credential: Pick<Credential, "tenant" | "roles">,
  request: ListNodeTypesRequest,
  signal: AbortSignal,
): Promise<Page<NodeType>> {
  const { catalog } = await workflowContextOf(ports, credential, request.agentId, signal);
  const found = searchNodeTypes(allNodeTypes(catalog), request.query);
  const types = found.map(({ inputs, outputs, ...type }) =>
    create(NodeTypeSchema, {
      ...type,
      inputs: inputs.map((port) => create(NodePortSchema, port)),
      outputs: outputs.map((port) => create(NodePortSchema, port)),
    }),
  );
  // The order is not that of the ids. Types that appear between two requests may hide or repeat others.
  const places = new Map(types.map(({ id }, place) => [id, String(place).padStart(8, "0")]));
  return pageOf(
    types,
    request,
    ({ id }) => places.get(id) ?? "",
    (key, previous) => key > previous,
    (type) => toBinary(NodeTypeSchema, type).length,
  );
}
