import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  NodeType,
  ValidateWorkflowResponse,
  WorkflowSchema,
} from "#contracts/extensions/workflow";
import type { CallOptions, ListOptions } from "../call-options.ts";
import type { Requests } from "../requests.ts";

export interface ListNodeTypesOptions extends ListOptions {
  /** The agent whose tools and delegates count. Default: all tools and agents that the caller can use. */
  readonly agentId?: string;
  /** Words to search for. Default: all types. */
  readonly query?: string;
}

export interface ValidateWorkflowOptions extends CallOptions {
  /** The agent whose tools and delegates the nodes use. Default: all. */
  readonly agentId?: string;
}

/** What helps to write workflows. `Agents` stores them, as agents with the field `workflow`. */
export class Workflows {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Lists the types of nodes that workflows may have. */
  nodeTypes(options: ListNodeTypesOptions = {}): AsyncGenerator<NodeType, void, undefined> {
    const { agentId = "", query = "" } = options;
    return this.#requests.list(async ({ workflows }, page, call) => {
      const request = { agentId, query, ...page };
      const { nodeTypes: items, nextPageToken } = await workflows.listNodeTypes(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Returns everything that is wrong with a graph. Stores nothing. */
  async validate(
    workflow: MessageInitShape<typeof WorkflowSchema>,
    { agentId = "", ...options }: ValidateWorkflowOptions = {},
  ): Promise<ValidateWorkflowResponse["violations"]> {
    const { violations } = await this.#requests.repeatable(
      ({ workflows }, call) => workflows.validateWorkflow({ workflow, agentId }, call),
      options,
    );
    return violations;
  }
}
