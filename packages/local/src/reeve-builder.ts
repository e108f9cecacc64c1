import type { AgentSource } from "./discover-agents.ts";
import { discoverAgents } from "./discover-agents.ts";
import { PartCollection, placeOf, violationsAt } from "@reeve/agent/registry/part-collection";
import { defaultAgentId } from "@reeve/agent/spec/default-agent-id";
import type { Skill } from "@reeve/agent/skills/skill";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { listViolations } from "@reeve/platform/list-violations";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import { readInit } from "@reeve/platform/strict/read-init";
import type { PluginRegistry } from "@reeve/plugin/host/plugin-registry";
import { reasonName } from "@reeve/platform/reason-name";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { AgentInit } from "./agent-init.ts";
import { checkRun } from "./check-run.ts";
import { LocalRuntime } from "./local-runtime.ts";
import { Reeve } from "./reeve.ts";

/** Where the files of runs are, and how isolated code in them is. */
interface WorkspaceOptions {
  readonly workspaces: Workspaces;
  /** Default: `none`, so that no agent has tools that execute code. */
  readonly isolation?: string;
}

/**
 * Collects the agents, tools, and models of a program, and checks them together: a mistake, such as an id that is taken, is reported by
 * `build`, with all others.
 */
export class ReeveBuilder {
  readonly #agents = new Map<string, AgentInit>();
  readonly #tools = new Map<string, Tool>();
  readonly #providers = new Map<string, ModelProvider>();
  readonly #models = new Map<string, MessageInitShape<typeof ModelSpecSchema>>();
  readonly #skills = new Map<string, Skill>();
  readonly #parts = new PartCollection();
  readonly #sources: AgentSource[] = [];
  #workspaces: WorkspaceOptions | undefined;
  #plugins: PluginRegistry | undefined;
  #log: Logger | undefined;

  /** Adds agents. Each may name the others as delegates. */
  withAgent(...agents: readonly AgentInit[]): this {
    for (const agent of agents) {
      const copy = copyOf(agent);
      if (copy === undefined)
        this.#parts.refuse("agents", "is not an object that describes an agent");
      else this.#parts.add(this.#agents, "agents", idOf(copy), copy);
    }
    return this;
  }

  /** Adds tools that all agents have, as far as their filters and classes permit. */
  withTool(...tools: readonly Tool[]): this {
    for (const tool of tools) this.#parts.addDescribed(this.#tools, "tools", tool);
    return this;
  }

  withProvider(...providers: readonly ModelProvider[]): this {
    for (const each of providers) this.#parts.addDescribed(this.#providers, "providers", each);
    return this;
  }

  /** Registers models by id, with what their providers do not know, such as context windows and prices. */
  withModel(...models: readonly MessageInitShape<typeof ModelSpecSchema>[]): this {
    for (const model of models) {
      const copy = copyOf(model);
      if (copy === undefined) {
        this.#parts.refuse("models", "is not an object that describes a model");
        continue;
      }
      const { init, violations } = readInit(ModelSpecSchema, copy);
      const { id } = create(ModelSpecSchema, init);
      const required = { field: "id", description: "is required", reason: "REQUIRED" };
      const problems = mergeViolations(violations, id === "" ? [required] : []);
      this.#parts.report("models", id, problems);
      this.#parts.add(this.#models, "models", id, init);
    }
    return this;
  }

  /** Adds skills that agents may name. */
  withSkill(...skills: readonly Skill[]): this {
    for (const skill of skills) this.#parts.addDescribed(this.#skills, "skills", skill);
    return this;
  }

  withWorkspaces(options: WorkspaceOptions): this {
    this.#workspaces = options;
    return this;
  }

  /** Sets the plugins that agents may name, as `openPlugins` opens them. The caller disposes them after the last run. Default: none. */
  withPlugins(plugins: PluginRegistry): this {
    this.#plugins = plugins;
    return this;
  }

  /** Sets where the runs log. Default: nowhere. */
  withLog(log: Logger): this {
    this.#log = log;
    return this;
  }

  /** Adds a place where agents of other servers are found. Only `buildAndDiscover` asks it. */
  withRemoteAgents(...sources: readonly AgentSource[]): this {
    this.#sources.push(...sources);
    return this;
  }

  /**
   * Returns the agents, ready to run. Resolves each of them as if a run of it started, with somebody who decides approvals. Throws one
   * Failure that lists every mistake of all of them, each with its place, such as `agents["writer"].model`.
   */
  build(): Reeve {
    const problems = this.#sources.map(({ name }) => ({
      field: placeOf("sources", name),
      description: "is only asked by buildAndDiscover",
      reason: "NOT_DISCOVERED",
    }));
    return this.#checked(this.#agents, problems);
  }

  /**
   * As `build`, with the agents that the sources have now. A local agent wins over a remote one with its id. What a source has, and what
   * cannot run here, is a mistake like those of `build`; so is a source that does not answer.
   */
  async buildAndDiscover(signal: AbortSignal): Promise<Reeve> {
    const localIds = new Set(this.#agents.keys());
    const { agents, problems } = await discoverAgents(this.#sources, { localIds }, signal);
    const found = agents.map((agent): [string, AgentInit] => [agent.id, agent]);
    return this.#checked(new Map([...this.#agents, ...found]), problems);
  }

  /** Returns the agents without resolving them: each is checked when a run of it starts. Throws a Failure for ids that are taken. */
  buildUnchecked(): Reeve {
    if (this.#parts.problems.length > 0) throw invalidBuild(this.#parts.problems);
    return this.#assemble(this.#agents);
  }

  #checked(agents: ReadonlyMap<string, AgentInit>, found: readonly Violation[]): Reeve {
    const reeve = this.#assemble(agents);
    const offer = new LocalRuntime(reeve.parts).ports.catalogs();
    const problems = [...this.#parts.problems, ...found, ...this.#modelProblems()];
    for (const [id, spec] of agents) {
      try {
        const delegates = reeve.reachableFrom(id);
        const dryRun = { input: "dry run", executor: "local", created: undefined, isDecided: true };
        checkRun({ spec, delegates, ...dryRun }, offer);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        problems.push(...problemsOf(id, error));
      }
    }
    if (problems.length > 0) throw invalidBuild(problems);
    return reeve;
  }

  #assemble(agents: ReadonlyMap<string, AgentInit>): Reeve {
    const parts = {
      providers: [...this.#providers.values()],
      models: [...this.#models.values()].map((model) => create(ModelSpecSchema, model)),
      tools: [...this.#tools.values()],
      skills: [...this.#skills.values()],
      ...this.#workspaces,
      ...(this.#plugins && { plugins: this.#plugins }),
      ...(this.#log && { log: this.#log }),
    };
    return new Reeve(new Map(agents), parts);
  }

  #modelProblems(): readonly Violation[] {
    const known = [...this.#providers.keys()];
    return [...this.#models].flatMap(([id, model]): readonly Violation[] => {
      const { provider } = create(ModelSpecSchema, model);
      if (known.includes(provider)) return [];
      const list = known.length === 0 ? "there are none" : `the providers are: ${known.join(", ")}`;
      const description = `there is no provider "${provider}"; ${list}`;
      return [
        { field: `${placeOf("models", id)}.provider`, description, reason: "PROVIDER_NOT_FOUND" },
      ];
    });
  }
}

/** Returns a copy, which later changes of the original do not reach. Undefined: it is no object, or has values that cannot be copied. */
function copyOf<Init extends object>(init: Init): Init | undefined {
  if (typeof init !== "object" || init === null || Array.isArray(init)) return undefined;
  try {
    return structuredClone(init);
  } catch {
    return undefined;
  }
}

/** Types do not hold in JavaScript: what is no text is reported later, with everything else that is wrong with the agent. */
function idOf({ id, name }: { readonly id?: unknown; readonly name?: unknown }): string {
  if (typeof id === "string" && id !== "") return id;
  return defaultAgentId(typeof name === "string" ? name : "");
}

function problemsOf(id: string, { violations, message, reason }: Failure): readonly Violation[] {
  const place = placeOf("agents", id);
  if (violations.length === 0) {
    return [{ field: place, description: message, reason: reasonName(reason) }];
  }
  return violationsAt(place, violations);
}

function invalidBuild(violations: readonly Violation[]): Failure {
  const message = `the agents cannot be built: ${listViolations(violations)}`;
  return new Failure("invalid", ErrorReason.INVALID_AGENT, message, { violations });
}
