import type { AgentSpec, ResolutionPlan } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { listViolations } from "@reeve/platform/list-violations";
import { delegatePluginViolations } from "../delegates/delegate-plugins.ts";
import { assertRecordable } from "../delegates/assert-recordable.ts";
import {
  assertPriced,
  delegateWarnings,
  plannedDelegates,
  resolveDelegates,
} from "../delegates/resolve-delegates.ts";
import { permissionWarnings } from "../permission/permission-problems.ts";
import { pluginStage } from "../plugins/plugin-stage.ts";
import { stopWarnings } from "../plugins/stop-warnings.ts";
import { permittedCredentials, permittedHosts } from "../policy/apply-policy.ts";
import { policyFor, withheldTool } from "../policy/caller-policy.ts";
import type { Policy, PolicyCaller, RunContext, RunPlace, Withheld } from "../policy/policy.ts";
import type { Offer } from "../spec/check-spec.ts";
import { warningOf, warningText } from "../spec/spec-warning.ts";
import { truncateToBytes } from "../text/truncate-to-bytes.ts";
import { finishTool } from "../tools/finish-tool.ts";
import { longTermMemoryTools, recallName } from "../tools/runtime-tools.ts";
import { searchKnowledge, searchKnowledgeName } from "../tools/search-knowledge.ts";
import type { ToolContext } from "../tools/toolbelt.ts";
import type { ResolvedAgent, ResolvedDelegate } from "./resolved-agent.ts";
import { skillsOf, skillViolations, skillWarnings } from "../skills/check-skills.ts";
import { workflowProblems, workflowWarnings } from "../workflow/check/workflow-problems.ts";
import { answerProblem, callsTools } from "./fallback-problem.ts";
import { invalidAgent, lookupStage } from "./lookup-stage.ts";
import { localSpec } from "./remote-endpoint.ts";
import { resolutionPlan } from "./resolution-plan.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { toolStage } from "./tool-stage.ts";

/**
 * Resolves an agent against what a deployment offers, in three stages: once before a start is accepted, and again when the run is
 * prepared. Throws a Failure that names what is not available, because the deployment may have changed since the agent was stored;
 * there is no partial result. The delegates that the run can reach are resolved first, each like an agent of its own.
 */
export function resolveAgent(spec: AgentSpec, offer: Offer, context: ToolContext): ResolvedAgent {
  // Clients offer their tools to the agent that they talk to, and it alone works in their editor.
  const without = { ...context, isDelegate: true, isEditor: false, offeredTools: [] };
  const { outputSchema: _ofRun, ...ofDelegates } = without;
  const delegates = resolveDelegates(spec, context.delegates ?? [], (each) =>
    resolveOne(each, offer, ofDelegates, []),
  );
  const resolved = resolveOne(spec, offer, context, delegates);
  assertPriced(delegates, resolved.limits);
  assertPlugins(delegatePluginViolations(spec, resolved, delegates));
  assertRecordable(resolved, delegates);
  return resolved;
}

function resolveOne(
  givenSpec: AgentSpec,
  offer: Offer,
  given: ToolContext,
  delegates: readonly ResolvedDelegate[],
): ResolvedAgent {
  const spec = localSpec(givenSpec);
  const context = withOwnCollections(spec, given);
  const { policy } = context;
  const lookup = lookupStage(spec, offer, policy);
  const plugins = pluginStage(spec, {
    policy,
    hasMemory: context.extraTools.some(({ name }) => name === recallName),
    offered: offer.models.plugins,
  });
  assertPlugins(plugins.violations);
  assertSkills(skillViolations(spec, offer.models.skills));
  const skills = skillsOf(spec, offer.models.skills);
  const { belt, gated, sandboxWarnings } = toolStage(spec, offer, context);
  const hosts = permittedHosts(policy, spec);
  const credentials = permittedCredentials(policy, spec);
  const noRecall = withheldExtra(recallName, offer, context);
  const noSearch = withheldExtra(searchKnowledgeName, offer, context);
  const memory = noRecall ? [`memory_enabled: no memories are recalled: ${noRecall.reason}`] : [];
  const knowledge = noSearch ? [`collections: they are not searched: ${noSearch.reason}`] : [];
  const { limits, retry, executor, planner, fallback } = lookup;
  assertWorkflow(workflowProblems(spec, belt, context.delegates));
  // The nodes of a workflow call tools themselves.
  const hasTools = spec.workflow !== undefined || (executor && callsTools(executor));
  const tools = hasTools ? belt.tools : [];
  const finish = finishOf(spec, executor, context);
  const planned = plannedDelegates(delegates);
  const stages = {
    lookup,
    plugins,
    belt: { ...belt, tools },
    gated,
    finish,
    delegates: planned,
    skills,
  };
  const details = [
    ...[...lookup.warnings, ...sandboxWarnings].map(warningOf),
    ...plugins.warnings,
    ...belt.warnings,
    ...permissionWarnings(spec, belt),
    ...stopWarnings(spec, belt),
    ...[
      ...gated.warnings,
      ...fallback.warnings,
      ...hosts.warnings,
      ...credentials.warnings,
      ...memory,
      ...knowledge,
      ...skillWarnings(spec, belt),
      ...lookup.limitWarnings,
      ...delegateWarnings(delegates),
      ...workflowWarnings(spec),
    ].map(warningOf),
  ];
  const withheld = [
    // First: a run records a limited number, and its calls depend on this one.
    ...credentials.withheld,
    ...fallback.withheld,
    ...hosts.withheld,
    ...[...belt.withheld].map(([name, each]) => ({ ...each, tool: name })),
  ];
  let plan: ResolutionPlan | undefined;
  return {
    limits,
    retry,
    executor,
    planner,
    fallbacks: fallback.permitted,
    media: lookup.media,
    tools,
    belt,
    network: hosts.permitted,
    withheld,
    gated: gated.further,
    recalls: noRecall === undefined,
    retrieves: noSearch === undefined,
    finish,
    delegates,
    skills,
    plugins: plugins.offered,
    policyGuardrails: policy.guardrails,
    guardModels: lookup.guardModels,
    // Only some callers need it, and it costs as much as the rest of a small agent.
    get plan() {
      return (plan ??= resolutionPlan(spec, stages, policy));
    },
    warnings: [...new Set(details.map(warningText))],
    details,
  };
}

/** An agent with collections has the tool that searches them in every run. */
function withOwnCollections({ collections }: AgentSpec, context: ToolContext): ToolContext {
  const { extraTools } = context;
  return collections.length === 0 || extraTools.includes(searchKnowledge)
    ? context
    : { ...context, extraTools: [...extraTools, searchKnowledge] };
}

/** Returns the tool that ends the run. Throws if the answer has a schema, and the model calls no tools. */
function finishOf(
  { outputSchema: own, workflow }: AgentSpec,
  executor: ResolvedModel | undefined,
  { outputSchema = own }: ToolContext,
): ToolDescriptor | undefined {
  if (outputSchema === undefined) return undefined;
  const problem =
    workflow === undefined && executor !== undefined
      ? answerProblem(executor)
      : "the answer of a workflow is what its output nodes give";
  if (problem !== undefined) throw invalidAgent(`output_schema: ${problem}`);
  return finishTool(outputSchema, "run");
}

/** Throws if a plugin does not exist, or cannot read its section: a run must not start without a part of its settings. */
function assertPlugins(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  const isMissing = violations.some(({ reason }) => reason === "PLUGIN_NOT_FOUND");
  const reason = isMissing ? ErrorReason.PLUGIN_NOT_FOUND : ErrorReason.INVALID_PLUGIN_CONFIG;
  const message = truncateToBytes(list, maxProblemBytes);
  throw new Failure("precondition", reason, message, { violations });
}

/** Throws if a node of the workflow can no longer run: a run must not start that cannot end. */
function assertWorkflow(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  const message = truncateToBytes(listViolations(violations), maxProblemBytes);
  throw new Failure("precondition", ErrorReason.INVALID_AGENT, message, { violations });
}

/** Throws if the deployment has lost a skill: a run must not start without a part of its instructions. */
function assertSkills(violations: readonly Violation[]): void {
  const [first] = violations;
  if (first === undefined) return;
  const message = `${first.field}: ${first.description}`;
  throw new Failure("precondition", ErrorReason.INVALID_AGENT, message, { violations });
}

const maxProblemBytes = 4_000;

/** Returns why the policy withholds a tool that only some runs have. Undefined: it does not, or the run has no such tool. */
function withheldExtra(
  name: string,
  offer: Offer,
  { extraTools, policy }: ToolContext,
): Withheld | undefined {
  const tool = extraTools.find((each) => each.name === name);
  return tool && withheldTool(policy, tool, offer.tools);
}

/** What decides on the context of a run: the request that starts it, or the record of its start. */
type RunRequest = Pick<RunCreated, "chatContext" | "memoryEnabled" | "threadId" | "outputSchema"> &
  Partial<Pick<RunCreated, "delegates" | "offeredTools" | "collections">>;

/** Returns what decides which tools a run can have, from the request that started it, and from who started it. */
export function toolContextOf(
  request: RunRequest,
  policy: Policy | undefined,
  caller: Omit<PolicyCaller, keyof RunPlace>,
): ToolContext {
  return {
    isEditor: request.chatContext?.kind === ChatContextKind.EDITOR,
    extraTools: [
      ...(request.memoryEnabled ? longTermMemoryTools : []),
      ...((request.collections ?? []).length > 0 ? [searchKnowledge] : []),
    ],
    policy: policyFor(policy, { ...caller, ...runPlaceOf(request) }),
    outputSchema: request.outputSchema,
    delegates: request.delegates ?? [],
    offeredTools: request.offeredTools ?? [],
  };
}

/** Returns who started a run. Its roles are unknown if an earlier version recorded the start. */
export function starterOf({
  tenant,
  startedByRoles,
}: Pick<RunCreated, "tenant" | "startedByRoles">): Omit<PolicyCaller, keyof RunPlace> {
  return { tenant, roles: startedByRoles.length === 0 ? undefined : new Set(startedByRoles) };
}

/** Returns where a run takes place, from the request that started it or from the record of its start. */
export function runPlaceOf(run: Parameters<typeof runContextOf>[0]): RunPlace {
  return { context: runContextOf(run), threadId: run.threadId };
}

/** Returns where a run takes place, as rules of a policy name it. */
export function runContextOf({
  chatContext,
  threadId,
}: Pick<RunCreated, "threadId"> & Partial<Pick<RunCreated, "chatContext">>): RunContext {
  if (chatContext?.kind === ChatContextKind.EDITOR) return "editor";
  return threadId === "" ? "plain" : "thread";
}
