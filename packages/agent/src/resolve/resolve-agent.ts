import type { AgentSpec, Limits, RetryPolicy } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { policyFor, withheldTool } from "../policy/caller-policy.ts";
import type { Policy, PolicyCaller, RunContext, Withheld } from "../policy/policy.ts";
import {
  assertModelAllowed,
  lowered,
  permittedCredentials,
  permittedFallbacks,
  permittedHosts,
} from "../policy/apply-policy.ts";
import { permissionViolations, permissionWarnings } from "../permission/permission-problems.ts";
import type { Offer } from "../spec/check-spec.ts";
import { truncateToBytes } from "../text/truncate-to-bytes.ts";
import type { GatedTools } from "../tools/gated-tools.ts";
import { gatedTools } from "../tools/gated-tools.ts";
import { toolWithParameter } from "../tools/injected-args.ts";
import { retryPolicyFor } from "../spec/retry-policy.ts";
import { longTermMemoryTools, recallName, runtimeSource } from "../tools/runtime-tools.ts";
import { priceProblem } from "../spec/price-problem.ts";
import { fallbackProblem } from "./fallback-problem.ts";
import { modelWarnings } from "./model-warnings.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { resolveModel } from "./resolve-model.ts";
import { sandboxProblems } from "./sandbox-problems.ts";
import type { ToolContext } from "../tools/toolbelt.ts";
import { toolbelt } from "../tools/toolbelt.ts";

/** Something that the operator's policy withholds from a run; `tool` is the name of the tool if it is one. */
export interface WithheldPart extends Withheld {
  readonly tool?: string;
}

/** The limits, models, and tools of a run of an agent. */
export interface ResolvedAgent {
  readonly limits: Limits;
  /** How failed model calls are repeated, with all fields. */
  readonly retry: RetryPolicy;
  readonly executor: ResolvedModel;
  /** The model of the planner. Undefined when planning is off. */
  readonly planner: ResolvedModel | undefined;
  /** The models that take over from a model that gives no answer, in order. */
  readonly fallbacks: readonly ResolvedModel[];
  readonly tools: readonly ToolDescriptor[];
  /** The destinations that code and commands may reach, as far as the toolhosts permit them. */
  readonly network: readonly string[];
  /** What the agent would have without the operator's policy. */
  readonly withheld: readonly WithheldPart[];
  /** The names of tools that require an approval although `hitl_tools` does not name them. */
  readonly gated: readonly string[];
  /** Whether a run with memory gets what is remembered of its user. */
  readonly recalls: boolean;
  readonly warnings: readonly string[];
}

/**
 * Resolves an agent against what a deployment offers: once before a start is accepted, and again when the run is prepared. Throws a
 * Failure that names what is not available, because the deployment may have changed since the agent was stored.
 */
export function resolveAgent(spec: AgentSpec, offer: Offer, context: ToolContext): ResolvedAgent {
  const { models } = offer;
  const { policy } = context;
  const { limits, warnings: limitWarnings } = lowered(spec, models.maxima, policy);
  const executor = resolveModel(spec, models);
  assertModelAllowed(policy, "model", executor, models);
  const planner = spec.planningEnabled ? plannerOf(spec, offer) : undefined;
  if (planner !== undefined) assertModelAllowed(policy, "planning_model", planner, models);
  const allFallbacks = spec.fallbackModels.map((model) => resolveModel({ model }, models));
  const fallback = permittedFallbacks(policy, allFallbacks, models);
  const fallbacks = fallback.permitted;
  for (const each of fallbacks) {
    const problem = fallbackProblem(each, executor);
    if (problem !== undefined) throw refused(`fallback_models: ${problem}`);
  }
  const resolvedModels = [executor, ...(planner ? [planner] : []), ...fallbacks];
  for (const { model } of resolvedModels) {
    const problem = priceProblem(spec, model, limits);
    if (problem !== undefined) throw refused(`budgets.max_cost_usd: ${problem}`);
  }
  assertPermission(spec);
  const belt = toolbelt(spec, offer.tools, context);
  const { tools } = belt;
  assertInjected(spec, tools);
  const sandboxes = sandboxProblems(spec, tools, offer.tools);
  assertHonored(sandboxes.violations);
  const gated = gatedTools(spec, belt);
  assertGated(gated, tools);
  const ignored = resolvedModels.flatMap((resolved) => modelWarnings(spec, resolved));
  const hosts = permittedHosts(policy, spec);
  const credentials = permittedCredentials(policy, spec);
  const withheld = [
    // First: a run records a limited number, and its calls depend on this one.
    ...credentials.withheld,
    ...fallback.withheld,
    ...hosts.withheld,
    ...[...belt.withheld].map(([name, each]) => ({ ...each, tool: name })),
  ];
  const noRecall = withheldRecall(offer, context);
  const memory = noRecall ? [`memory_enabled: no memories are recalled: ${noRecall.reason}`] : [];
  const byPolicy = [
    ...fallback.warnings,
    ...hosts.warnings,
    ...credentials.warnings,
    ...memory,
    ...limitWarnings,
  ];
  const all = [
    ...ignored,
    ...sandboxes.warnings,
    ...belt.warnings,
    ...permissionWarnings(spec, belt),
    ...gated.warnings,
    ...byPolicy,
  ];
  const warnings = [...new Set(all)];
  const retry = retryPolicyFor(spec, models.retry);
  const network = hosts.permitted;
  const { further } = gated;
  return {
    limits,
    retry,
    executor,
    planner,
    fallbacks,
    tools,
    network,
    withheld,
    gated: further,
    recalls: noRecall === undefined,
    warnings,
  };
}

/** Returns why the policy withholds the tool that recalls memories. Undefined: it does not, or the run has no memory. */
function withheldRecall(offer: Offer, { extraTools, policy }: ToolContext): Withheld | undefined {
  const recall = extraTools.find(({ name }) => name === recallName);
  return recall && withheldTool(policy, recall, offer.tools);
}

/** What decides on the context of a run: the request that starts it, or the record of its start. */
type RunRequest = Pick<RunCreated, "chatContext" | "memoryEnabled" | "threadId">;

/** Returns what decides which tools a run can have, from the request that started it, and from who started it. */
export function toolContextOf(
  request: RunRequest,
  policy: Policy | undefined,
  caller: Omit<PolicyCaller, "context">,
): ToolContext {
  return {
    isEditor: request.chatContext?.kind === ChatContextKind.EDITOR,
    extraTools: request.memoryEnabled ? longTermMemoryTools : [],
    policy: policyFor(policy, { ...caller, context: runContextOf(request) }),
  };
}

/** Returns who started a run. Its roles are unknown if an earlier version recorded the start. */
export function starterOf({
  tenant,
  startedByRoles,
}: Pick<RunCreated, "tenant" | "startedByRoles">): Omit<PolicyCaller, "context"> {
  return { tenant, roles: startedByRoles.length === 0 ? undefined : new Set(startedByRoles) };
}

/** Returns where a run takes place, as rules of a policy name it. */
export function runContextOf({
  chatContext,
  threadId,
}: Pick<RunCreated, "threadId"> & Partial<Pick<RunCreated, "chatContext">>): RunContext {
  if (chatContext?.kind === ChatContextKind.EDITOR) return "editor";
  return threadId === "" ? "plain" : "thread";
}

function plannerOf({ model, planningModel }: AgentSpec, { models }: Offer): ResolvedModel {
  return resolveModel({ model: planningModel ?? model }, models);
}

/** Throws if the permission rules cannot be read: a run must not start without a part of them. */
function assertPermission(spec: AgentSpec): void {
  const violations = permissionViolations(spec);
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  throw new Failure(
    "precondition",
    ErrorReason.INVALID_AGENT,
    truncateToBytes(list, maxProblemBytes),
    { violations },
  );
}

/** Throws if the spec requires an approval for a tool that exists under no known name: it may exist under another. */
function assertGated({ unresolved }: GatedTools, tools: readonly ToolDescriptor[]): void {
  if (unresolved.length === 0) return;
  const names = unresolved.map((name) => `"${name}"`).join(", ");
  const known = tools.map(({ name }) => name).join(", ");
  const problem = `hitl_tools: nothing offers ${names}; update hitl_tools of the agent, whose tools are: ${known || "none"}`;
  throw refused(truncateToBytes(problem, maxProblemBytes));
}

const maxProblemBytes = 4_000;

/** Throws if a tool has got a parameter with the name of an injected argument since the agent was stored. */
function assertInjected(spec: AgentSpec, tools: readonly ToolDescriptor[]): void {
  for (const key of Object.keys(spec.injectedToolArgs)) {
    const owner = toolWithParameter(tools, key);
    if (owner === undefined) continue;
    const where = owner.source === runtimeSource ? "" : ` of ${owner.source}`;
    const message = `injected_tool_args: "${key}" is now a parameter of the tool ${owner.name}${where}; choose another name`;
    throw refused(message);
  }
}

/** Throws if the toolhosts cannot honor a setting of the agent. */
function assertHonored(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  const message = truncateToBytes(list, maxProblemBytes);
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message, { violations });
}

function refused(message: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_AGENT, message);
}
