import type {
  Limits,
  OfferedPlugin,
  ResolutionPlan,
  RetryPolicy,
  SkillDescriptor,
} from "@reeve/contracts/agent";
import type { DelegateAgent } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { GuardModel } from "../guardrails/guard-models.ts";
import type { MediaModels } from "../media/media-models.ts";
import type { PolicyGuardrails } from "../policy/caller-policy.ts";
import type { Withheld } from "../policy/policy.ts";
import type { SpecWarning } from "../spec/spec-warning.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/** Something that the operator's policy withholds from a run; `tool` is the name of the tool if it is one. */
interface WithheldPart extends Withheld {
  readonly tool?: string;
}

/** The limits, models, and tools of a run of an agent. */
export interface ResolvedAgent {
  readonly limits: Limits;
  /** How failed model calls are repeated, with all fields. */
  readonly retry: RetryPolicy;
  /** The model of the agent. Undefined for a workflow that calls none. */
  readonly executor: ResolvedModel | undefined;
  /** The model of the planner. Undefined when planning is off. */
  readonly planner: ResolvedModel | undefined;
  /** The models that take over from a model that gives no answer, in order. */
  readonly fallbacks: readonly ResolvedModel[];
  /** The models that generate media. */
  readonly media: MediaModels;
  readonly tools: readonly ToolDescriptor[];
  /** The tools that are offered, and why the agent has each of them or not. */
  readonly belt: Toolbelt;
  /** The destinations that code and commands may reach, as far as the toolhosts permit them. */
  readonly network: readonly string[];
  /** What the agent would have without the operator's policy. */
  readonly withheld: readonly WithheldPart[];
  /** The names of tools that require an approval although `hitl_tools` does not name them. */
  readonly gated: readonly string[];
  /** Whether a run with memory gets what is remembered of its user. */
  readonly recalls: boolean;
  /** Whether a run with collections gets their passages. */
  readonly retrieves: boolean;
  /** The tool that ends a run whose answer has a schema. Undefined: the answer is text. */
  readonly finish: ToolDescriptor | undefined;
  /** The agents that the run can call as tools, and what they become, ordered by id. */
  readonly delegates: readonly ResolvedDelegate[];
  /** The skills that the agent may open, in the versions of now, ordered by name. */
  readonly skills: readonly SkillDescriptor[];
  /** The plugins of the operator that take part in the run, in the order of the plan. */
  readonly plugins: readonly OfferedPlugin[];
  /** The guards of the operator's policy. */
  readonly policyGuardrails: readonly PolicyGuardrails[];
  /** The models that guards of the agent and of the policy name. */
  readonly guardModels: readonly GuardModel[];
  /** What the agent becomes, and why. */
  readonly plan: ResolutionPlan;
  readonly warnings: readonly string[];
  /** The warnings, each with its field. */
  readonly details: readonly SpecWarning[];
}

/** An agent that a run can call as a tool, and what it becomes. */
export interface ResolvedDelegate {
  readonly agent: DelegateAgent;
  readonly resolved: ResolvedAgent;
}
