import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { closestName } from "@reeve/agent/text/closest-name";
import type { AgentInit } from "./agent-init.ts";
import type { LocalParts } from "./local-runtime.ts";
import type { LocalRun, RunAgentOptions } from "./run-agent.ts";
import { runAgent } from "./run-agent.ts";

/** How one run of a built agent is started. */
export type RunOptions = Pick<RunAgentOptions, "signal" | "decide" | "created" | "executor">;

/** The agents of a program, with their tools and models. `ReeveBuilder` creates it. */
export class Reeve {
  /** What every run has. */
  readonly parts: LocalParts;
  readonly #agents: ReadonlyMap<string, AgentInit>;

  constructor(agents: ReadonlyMap<string, AgentInit>, parts: LocalParts) {
    this.#agents = agents;
    this.parts = parts;
  }

  /** The ids of the agents, in the order in which they were added. */
  get agentIds(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /**
   * Runs an agent in this process, as `runAgent` does, with the other agents as far as it can reach them. Throws a Failure if there is no such
   * agent, and those of `runAgent`.
   */
  run(agentId: string, input: string, options: RunOptions): LocalRun {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw this.#unknown(agentId);
    const agents = this.reachableFrom(agentId);
    return runAgent(agent, input, { ...this.parts, ...options, agents });
  }

  /** Returns the agents that an agent can reach through delegates, without itself. */
  reachableFrom(agentId: string): readonly AgentInit[] {
    const found = new Set([agentId]);
    for (const id of found) for (const each of delegatesIn(this.#agents.get(id))) found.add(each);
    found.delete(agentId);
    return [...found].flatMap((id) => this.#agents.get(id) ?? []);
  }

  #unknown(agentId: string): Failure {
    const closest = closestName(agentId, this.agentIds);
    const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
    const message = `there is no agent "${agentId}"${hint}`;
    return new Failure("not_found", ErrorReason.AGENT_NOT_FOUND, message);
  }
}

/** Types do not hold in JavaScript: the check of the agent reports what is no list. */
function delegatesIn(agent: AgentInit | undefined): readonly string[] {
  const delegates: unknown = agent?.delegates;
  return Array.isArray(delegates) ? delegates.filter((each) => typeof each === "string") : [];
}
