import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  Agent,
  AgentSpecSchema,
  ExplainAgentResponse,
  ValidateAgentResponse,
} from "#contracts/agent";
import type { Role } from "#contracts/role";
import { AgentSchema } from "#contracts/agent";
import type { CallOptions, ListOptions } from "./call-options.ts";
import { ReeveError } from "./reeve-error.ts";
import type { Requests } from "./requests.ts";

/** The result of `apply`. */
export interface AppliedAgent {
  readonly agent: Agent;
  readonly action: "created" | "updated";
  /** Properties of the spec that are valid but probably not intended. */
  readonly warnings: readonly string[];
}

/** Whose runs `explain` is about. */
export interface ExplainOptions extends CallOptions {
  readonly roles?: readonly Role[];
  readonly context?: "plain" | "thread" | "editor";
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
      const created = await this.#requests.once(
        ({ agents }, call) => agents.createAgent({ spec }, call),
        options,
      );
      return applied(created, "created");
    } catch (error) {
      if (!(error instanceof ReeveError) || error.reason !== "AGENT_EXISTS") throw error;
    }
    const updated = await this.#requests.once(
      ({ agents }, call) => agents.updateAgent({ spec }, call),
      options,
    );
    return applied(updated, "updated");
  }

  /** Returns everything that is wrong with a spec. Stores nothing. */
  async validate(spec: SpecInit, options: CallOptions = {}): Promise<ValidateAgentResponse> {
    return await this.#requests.repeatable(
      ({ agents }, call) => agents.validateAgent({ spec }, call),
      options,
    );
  }

  /** Explains what an agent may use in runs of a caller. Default: a caller with the roles of the token, outside of threads. */
  async explain(
    agentId: string,
    { roles, context, subject, memoryEnabled = false, ...options }: ExplainOptions = {},
  ): Promise<ExplainAgentResponse> {
    const request = {
      agentId,
      roles: [...(roles ?? [])],
      context: context ?? "",
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

  list(options: ListOptions = {}): AsyncGenerator<Agent, void, undefined> {
    return this.#requests.list(async ({ agents }, page, call) => {
      const { agents: items, nextPageToken } = await agents.listAgents(page, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes an agent. Its runs continue. Not repeated if the connection breaks. */
  async delete(agentId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(({ agents }, call) => agents.deleteAgent({ agentId }, call), options);
  }
}

function applied(
  { agent, warnings }: { readonly agent?: Agent | undefined; readonly warnings: readonly string[] },
  action: AppliedAgent["action"],
): AppliedAgent {
  return { agent: agent ?? create(AgentSchema), action, warnings };
}
