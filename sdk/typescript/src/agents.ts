import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  Agent,
  AgentSpecSchema,
  ExplainAgentResponse,
  ModelRegistrySchema,
  ValidateAgentResponse,
} from "#contracts/agent";
import type { Role } from "#contracts/role";
import { AgentSchema } from "#contracts/agent";
import type { CallOptions, ListOptions } from "./call-options.ts";
import { ReeveError } from "./reeve-error.ts";
import type { Requests } from "./requests.ts";

/** A stored agent, and the warnings about its spec. */
export interface StoredAgent {
  readonly agent: Agent;
  /** Properties of the spec that are valid but probably not intended. */
  readonly warnings: readonly string[];
}

/** The result of `apply`. */
export interface AppliedAgent extends StoredAgent {
  readonly action: "created" | "updated";
}

export interface CreateAgentOptions extends CallOptions {
  /** The set of agents that the agent belongs to. Default: none. */
  readonly managedBy?: string;
}

export interface RevisionOptions extends CallOptions {
  /** The revision that the caller has seen. If the agent has another one, the request is refused with REVISION_CONFLICT. Default: any. */
  readonly revision?: number;
  /** The set that the agent must belong to; empty means none. Otherwise the request is refused with REVISION_CONFLICT. Default: any. */
  readonly managedBy?: string;
}

export interface ListAgentsOptions extends ListOptions {
  /** Only agents with a workflow (true), or without one (false). Default: all. */
  readonly hasWorkflow?: boolean;
}

export interface ValidateAgentOptions extends CallOptions {
  /** Specs that are to be stored before this one, in which delegates are looked up first. Default: none. */
  readonly others?: readonly SpecInit[];
  /** Models and providers that are to be stored before it, in the place of the stored ones. Default: the stored ones. */
  readonly registry?: MessageInitShape<typeof ModelRegistrySchema> | undefined;
}

/** Whose runs `explain` is about. */
export interface ExplainOptions extends CallOptions {
  readonly roles?: readonly Role[];
  readonly context?: "plain" | "thread" | "editor";
  /** The thread of the runs. Default: none. */
  readonly threadId?: string;
  /** The subject whose last run has the roles. Only without `roles`. */
  readonly subject?: string;
  /** Whether the runs have long-term memory. Default: no. */
  readonly memoryEnabled?: boolean;
}

type SpecInit = MessageInitShape<typeof AgentSpecSchema>;

/** The agents of a deployment. */
export class Agents {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Stores an agent: creates it, or replaces the agent with the same id. Not repeated if the connection breaks. */
  async apply(spec: SpecInit, options: CallOptions = {}): Promise<AppliedAgent> {
    try {
      return { ...(await this.create(spec, options)), action: "created" };
    } catch (error) {
      if (!(error instanceof ReeveError) || error.reason !== "AGENT_EXISTS") throw error;
    }
    return { ...(await this.update(spec, options)), action: "updated" };
  }

  /** Stores a new agent. Throws a ReeveError with the reason AGENT_EXISTS if its id is taken. Not repeated if the connection breaks. */
  async create(
    spec: SpecInit,
    { managedBy = "", ...options }: CreateAgentOptions = {},
  ): Promise<StoredAgent> {
    return storedOf(
      await this.#requests.once(
        ({ agents }, call) => agents.createAgent({ spec, managedBy }, call),
        options,
      ),
    );
  }

  /** Replaces the agent with the id of the spec. Not repeated if the connection breaks. */
  async update(
    spec: SpecInit,
    { revision = 0, managedBy, ...options }: RevisionOptions = {},
  ): Promise<StoredAgent> {
    return storedOf(
      await this.#requests.once(
        ({ agents }, call) => agents.updateAgent({ spec, revision, ...ownedBy(managedBy) }, call),
        options,
      ),
    );
  }

  /** Returns everything that is wrong with a spec. Stores nothing. */
  async validate(
    spec: SpecInit,
    { others = [], registry, ...options }: ValidateAgentOptions = {},
  ): Promise<ValidateAgentResponse> {
    return await this.#requests.repeatable(
      ({ agents }, call) =>
        agents.validateAgent({ spec, others: [...others], ...(registry && { registry }) }, call),
      options,
    );
  }

  /** Explains what an agent may use in runs of a caller. Default: a caller with the roles of the token, outside of threads. */
  async explain(
    agentId: string,
    { roles, context, threadId, subject, memoryEnabled = false, ...options }: ExplainOptions = {},
  ): Promise<ExplainAgentResponse> {
    const request = {
      agentId,
      roles: [...(roles ?? [])],
      context: context ?? "",
      threadId: threadId ?? "",
      subject: subject ?? "",
      memoryEnabled,
    };
    return await this.#requests.repeatable(
      ({ agents }, call) => agents.explainAgent(request, call),
      options,
    );
  }

  async get(agentId: string, options: CallOptions = {}): Promise<Agent> {
    const { agent } = await this.#requests.repeatable(
      ({ agents }, call) => agents.getAgent({ agentId }, call),
      options,
    );
    return agent ?? create(AgentSchema);
  }

  list({ hasWorkflow, ...options }: ListAgentsOptions = {}): AsyncGenerator<
    Agent,
    void,
    undefined
  > {
    return this.#requests.list(async ({ agents }, page, call) => {
      const request = { ...page, ...(hasWorkflow !== undefined && { hasWorkflow }) };
      const { agents: items, nextPageToken } = await agents.listAgents(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Lists the stored revisions of an agent, at most the last 64, the newest first. */
  revisions(agentId: string, options: ListOptions = {}): AsyncGenerator<Agent, void, undefined> {
    return this.#requests.list(async ({ agents }, page, call) => {
      const request = { agentId, ...page };
      const { revisions: items, nextPageToken } = await agents.listAgentRevisions(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes an agent. Its runs continue. Not repeated if the connection breaks. */
  async delete(
    agentId: string,
    { revision = 0, managedBy, ...options }: RevisionOptions = {},
  ): Promise<void> {
    await this.#requests.once(
      ({ agents }, call) => agents.deleteAgent({ agentId, revision, ...ownedBy(managedBy) }, call),
      options,
    );
  }
}

function ownedBy(managedBy: string | undefined): { readonly managedBy?: string } {
  return managedBy === undefined ? {} : { managedBy };
}

function storedOf({
  agent,
  warnings,
}: {
  readonly agent?: Agent | undefined;
  readonly warnings: readonly string[];
}): StoredAgent {
  return { agent: agent ?? create(AgentSchema), warnings };
}
