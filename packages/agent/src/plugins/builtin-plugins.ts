import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { permissionSectionName } from "../permission/permission-levels.ts";
import { permissionViolations } from "../permission/permission-problems.ts";
import { guardrailsSchema, guardrailsSectionName } from "../guardrails/guardrails-section.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import { compactionSchema, compactionSectionName } from "./compaction-section.ts";
import { retryProblems, retrySectionName } from "./retry-section.ts";
import { sectionViolations } from "./section-violations.ts";
import { stopSchema, stopSectionName } from "./stop-section.ts";

/** What decides, beside its spec, which plugins an agent has. */
export interface PluginContext {
  readonly policy: Pick<CallerPolicy, "permissions"> & Partial<Pick<CallerPolicy, "guardrails">>;
  /** Whether the run has long-term memory. */
  readonly hasMemory: boolean;
  /** The plugins of the operator. Default: none. */
  readonly offered?: readonly OfferedPlugin[];
}

/** A behavior of the runtime, as a plan lists it. */
export interface BuiltinPlugin {
  readonly id: string;
  /** What adds it to every agent for which `isAdded` is true: `always`, or a field of the spec. */
  readonly addedBy: string;
  /** The section that it reads. Undefined: none. */
  readonly section?: {
    readonly name: string;
    /** Returns what is wrong with the section. */
    problems(spec: AgentSpec): readonly Violation[];
  };
  isAdded(spec: AgentSpec, context: PluginContext): boolean;
}

/** Whether an agent names a plugin that is no behavior of the runtime: one of the operator. */
export function namesOfferedPlugin({ pluginIds }: Pick<AgentSpec, "pluginIds">): boolean {
  return pluginIds.some((id) => !builtinPlugins.some((plugin) => plugin.id === id));
}

const always = { addedBy: "always", isAdded: () => true } as const;

/** All plugins of this version, in the order in which they shape a run. */
export const builtinPlugins: readonly BuiltinPlugin[] = [
  { id: "loop-actions", ...always },
  { id: "max-rounds", ...always },
  { id: "budgets", ...always },
  { id: "retry", ...always, section: { name: retrySectionName, problems: retryProblems } },
  {
    id: "stop-conditions",
    addedBy: `sections.${stopSectionName}`,
    section: {
      name: stopSectionName,
      problems: (spec) => sectionViolations(spec, stopSectionName, stopSchema),
    },
    isAdded: ({ sections }) => sections[stopSectionName] !== undefined,
  },
  {
    id: guardrailsSectionName,
    addedBy: `sections.${guardrailsSectionName}`,
    section: {
      name: guardrailsSectionName,
      problems: (spec) => sectionViolations(spec, guardrailsSectionName, guardrailsSchema),
    },
    isAdded: ({ sections }, { policy: { guardrails = [] } }) =>
      sections[guardrailsSectionName] !== undefined || guardrails.length > 0,
  },
  {
    id: "permission",
    addedBy: `sections.${permissionSectionName}`,
    section: { name: permissionSectionName, problems: permissionViolations },
    isAdded: ({ sections }, { policy }) =>
      sections[permissionSectionName] !== undefined || policy.permissions.length > 0,
  },
  {
    id: "approvals",
    addedBy: "hitl_tools",
    isAdded: ({ hitlTools, approvalPolicy }) =>
      hitlTools.length > 0 || approvalPolicy !== undefined,
  },
  {
    id: "questions",
    addedBy: "questions",
    isAdded: ({ questions }) => questions !== undefined,
  },
  {
    id: "planner",
    addedBy: "planning_enabled",
    isAdded: ({ planningEnabled }) => planningEnabled,
  },
  {
    id: "context-budget",
    addedBy: "budget_awareness",
    isAdded: ({ budgetAwareness }) => budgetAwareness !== undefined,
  },
  {
    id: "compaction",
    addedBy: "context_policy",
    section: {
      name: compactionSectionName,
      problems: (spec) => sectionViolations(spec, compactionSectionName, compactionSchema),
    },
    isAdded: ({ contextPolicy }) => contextPolicy !== undefined,
  },
  {
    id: "context-transform",
    addedBy: "context_policy",
    isAdded: ({ contextPolicy }) => contextPolicy !== undefined,
  },
  { id: "subtasks", ...always },
  {
    id: "todos",
    addedBy: "deep_agent.planning",
    isAdded: ({ deepAgent }) => deepAgent?.planning !== false,
  },
  {
    id: "memory",
    addedBy: "memory_enabled",
    isAdded: (_, { hasMemory }) => hasMemory,
  },
];
