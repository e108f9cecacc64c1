import type { NodeCatalog } from "../node-catalog.ts";

/** What a workflow is checked against. */
export interface WorkflowContext {
  /** The tools of the agent, and those of its delegates that are known. */
  readonly catalog: NodeCatalog;
  /** Why the agent does not have a tool that is offered, by name. */
  readonly excluded: ReadonlyMap<string, string>;
  /** The ids of the agents that the agent may call. */
  readonly delegates: readonly string[];
}
