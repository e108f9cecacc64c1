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
  readonly #problems: Violation[] = [];
  #workspaces: WorkspaceOptions | undefined;
  #plugins: PluginRegistry | undefined;
  #log: Logger | undefined;

  /** Adds agents. Each may name the others as delegates. */
  withAgent(...agents: readonly AgentInit[]): this {
    for (const agent of agents) {
      const copy = copyOf(agent);
      if (copy === undefined) this.#refuse("agents", "is not an object that describes an agent");
      else this.#add(this.#agents, "agents", idOf(copy), copy);
    }
    return this;
  }

  /** Adds tools that all agents have, as far as their filters and classes permit. */
  withTool(...tools: readonly Tool[]): this {
    for (const tool of tools) this.#addDescribed(this.#tools, "tools", tool);
    return this;
  }

  withProvider(...providers: readonly ModelProvider[]): this {
    for (const each of providers) this.#addDescribed(this.#providers, "providers", each);
    return this;
  }

  /** Registers models by id, with what their providers do not know, such as context windows and prices. */
  withModel(...models: readonly MessageInitShape<typeof ModelSpecSchema>[]): this {
    for (const model of models) {
      const copy = copyOf(model);
      if (copy === undefined) {
        this.#refuse("models", "is not an object that describes a model");
        continue;
      }
      const { init, violations } = readInit(ModelSpecSchema, copy);
      const { id } = create(ModelSpecSchema, init);
      const place = placeOf("models", id);
      const required = { field: "id", description: "is required", reason: "REQUIRED" };
      const problems = mergeViolations(violations, id === "" ? [required] : []);
      this.#problems.push(
        ...problems.map((each) => ({ ...each, field: `${place}.${each.field}` })),
      );
      this.#add(this.#models, "models", id, init);
    }
    return this;
  }

  /** Adds skills that agents may name. */
  withSkill(...skills: readonly Skill[]): this {
    for (const skill of skills) this.#addDescribed(this.#skills, "skills", skill);
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

  /**
   * Returns the agents, ready to run. Resolves each of them as if a run of it started, with somebody who decides approvals. Throws one
   * Failure that lists every mistake of all of them, each with its place, such as `agents["writer"].model`.
   */
  build(): Reeve {
    const reeve = this.#assemble();
    const offer = new LocalRuntime(reeve.parts).ports.catalogs();
    const problems = [...this.#problems, ...this.#modelProblems()];
    for (const [id, spec] of this.#agents) {
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

  /** Returns the agents without resolving them: each is checked when a run of it starts. Throws a Failure for ids that are taken. */
  buildUnchecked(): Reeve {
    if (this.#problems.length > 0) throw invalidBuild(this.#problems);
    return this.#assemble();
  }

  #assemble(): Reeve {
    const parts = {
      providers: [...this.#providers.values()],
      models: [...this.#models.values()].map((model) => create(ModelSpecSchema, model)),
      tools: [...this.#tools.values()],
      skills: [...this.#skills.values()],
      ...this.#workspaces,
      ...(this.#plugins && { plugins: this.#plugins }),
      ...(this.#log && { log: this.#log }),
    };
    return new Reeve(new Map(this.#agents), parts);
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

  #addDescribed<Part>(parts: Map<string, Part>, kind: string, part: Part): void {
    const name = describedName(part);
    if (name === undefined) this.#refuse(kind, "has no descriptor with a name");
    else this.#add(parts, kind, name, part);
  }

  /** Reports a part that has no name to report it by. */
  #refuse(kind: string, description: string): void {
    this.#problems.push({
      field: kind,
      description: `one of them ${description}`,
      reason: "MALFORMED",
    });
  }

  /** Keeps the first of several parts with one name. */
  #add<Part>(parts: Map<string, Part>, kind: string, name: string, part: Part): void {
    if (!parts.has(name)) parts.set(name, part);
    else {
      const description = "is given twice; remove one, or give it another name";
      this.#problems.push({ field: placeOf(kind, name), description, reason: "REPEATED" });
    }
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

function describedName(part: unknown): string | undefined {
  if (typeof part !== "object" || part === null || !("descriptor" in part)) return undefined;
  const { descriptor } = part;
  if (typeof descriptor !== "object" || descriptor === null || !("name" in descriptor)) {
    return undefined;
  }
  return typeof descriptor.name === "string" ? descriptor.name : undefined;
}

function placeOf(kind: string, name: string): string {
  return `${kind}[${JSON.stringify(name)}]`;
}

function problemsOf(id: string, { violations, message, reason }: Failure): readonly Violation[] {
  const place = placeOf("agents", id);
  if (violations.length === 0) {
    return [{ field: place, description: message, reason: reasonName(reason) }];
  }
  return violations.map((each) => ({
    ...each,
    field: each.field === "" ? place : `${place}.${each.field}`,
  }));
}

function invalidBuild(violations: readonly Violation[]): Failure {
  const message = `the agents cannot be built: ${listViolations(violations)}`;
  return new Failure("invalid", ErrorReason.INVALID_AGENT, message, { violations });
}
