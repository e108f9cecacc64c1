import type { MessageInitShape } from "@bufbuild/protobuf";
import { bytesDigest } from "@reeve/contracts/digest/bytes-digest";
import { create, toBinary } from "@bufbuild/protobuf";
import type {
  AgentSpec,
  ExcludedTool,
  PlannedDelegateSchema,
  PlannedModelSchema,
  PlannedToolSchema,
  ResolutionPlan,
  SkillDescriptor,
} from "@reeve/contracts/agent";
import { ExcludedToolSchema, ResolutionPlanSchema } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { callOutlook, maxNamedRules } from "../permission/call-outlook.ts";
import { describeDecision } from "../permission/decide-call.ts";
import type { PermissionLevel } from "../permission/permission-levels.ts";
import { agentLevel, policyLevel } from "../permission/permission-levels.ts";
import type { PluginStage } from "../plugins/plugin-stage.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import type { GatedTools } from "../tools/gated-tools.ts";
import { nameOfClass } from "../tools/permission-classes.ts";
import { plannedNodes } from "../workflow/check/planned-nodes.ts";
import { askUserName, runtimeSource } from "../tools/runtime-tools.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { fitPlan } from "./fit-plan.ts";
import type { LookupStage } from "./lookup-stage.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/** How many tools that an agent does not have a plan lists. */
const maxExcluded = 200;
/** How large a plan may become that a response contains. */
const maxPlanBytes = 1024 * 1024;

/** The results of the three stages. */
interface Stages {
  readonly lookup: LookupStage;
  readonly plugins: PluginStage;
  readonly belt: Toolbelt;
  readonly gated: GatedTools;
  /** The tool that ends a run whose answer has a schema. */
  readonly finish?: ToolDescriptor | undefined;
  /** The agents that the run can call as tools. */
  readonly delegates?: MessageInitShape<typeof PlannedDelegateSchema>[];
  /** The skills that the agent may open. */
  readonly skills?: readonly SkillDescriptor[];
}

/** Returns the plan of a resolution, with its hash. */
export function resolutionPlan(
  spec: AgentSpec,
  { lookup, plugins: { plugins }, belt, gated, finish, delegates = [], skills = [] }: Stages,
  policy: CallerPolicy,
): ResolutionPlan {
  const levels = [agentLevel(spec), policyLevel(policy.permissions)].filter(
    (level) => level !== undefined,
  );
  const asking = new Set([...spec.hitlTools, ...gated.further]);
  const own = belt.tools.map((tool) => plannedTool(tool, { belt, levels, asking }));
  // No permission rule is about the answer of a run.
  const answering = finish && {
    ...plannedTool(finish, { belt, levels: [], asking }),
    admittedBy: "output_schema",
  };
  const tools = answering === undefined ? own : [...own, answering];
  const plan = create(ResolutionPlanSchema, {
    plugins: [...plugins],
    tools,
    models: plannedModels(lookup),
    limits: lookup.limits,
    delegates,
    skills: [...skills],
    nodes: plannedNodes(spec.workflow),
  });
  // The message has no maps, so that equal plans have equal bytes.
  const hash = bytesDigest(toBinary(ResolutionPlanSchema, plan));
  // What the agent does not have changes with what others offer, so it is not a part of the hash.
  const names = [...belt.excluded.keys()].toSorted();
  const excludedTools = names.slice(0, maxExcluded).map((name) => excludedTool(name, belt));
  return fitPlan({ ...plan, excludedTools, excludedCount: names.length, hash }, maxPlanBytes);
}

interface ToolPlanning {
  readonly belt: Toolbelt;
  readonly levels: readonly PermissionLevel[];
  /** Tools that require an approval: those of `hitl_tools`, and those that stand for tools of a source that are gone. */
  readonly asking: ReadonlySet<string>;
}

function plannedTool(
  tool: ToolDescriptor,
  planning: ToolPlanning,
): MessageInitShape<typeof PlannedToolSchema> {
  const { name, permissionClass, source, pool } = tool;
  const { calls, rules } = callsOf(tool, planning);
  return {
    name,
    permissionClass: nameOfClass(permissionClass),
    source,
    pool,
    admittedBy: planning.belt.admittedBy.get(name) ?? "",
    calls,
    callRules: rules.slice(0, maxNamedRules),
  };
}

function callsOf(tool: ToolDescriptor, { levels, asking }: ToolPlanning) {
  const { calls, rules } = callOutlook(levels, tool);
  const gates = [
    ...(asking.has(tool.name) ? ["hitl_tools"] : []),
    ...(tool.name === askUserName && tool.source === runtimeSource ? ["questions"] : []),
  ];
  if (gates.length === 0) return { calls, rules };
  // A conditional rule may still deny a call that people would decide on.
  const mayDeny = calls === "depends" && rules.some((rule) => rule.startsWith("deny "));
  return { calls: mayDeny ? "depends" : "ask", rules: [...gates, ...rules] };
}

function excludedTool(
  name: string,
  { offered, excluded, withheld, denied, filteredBy }: Toolbelt,
): ExcludedTool {
  const { descriptor } = offered.get(name) ?? {};
  const denial = denied.get(name);
  const rule = withheld.get(name)?.rule;
  return create(ExcludedToolSchema, {
    name,
    permissionClass: descriptor === undefined ? "" : nameOfClass(descriptor.permissionClass),
    source: descriptor?.source ?? "",
    excludedBy:
      (denial && describeDecision(denial)) ??
      (rule === undefined ? undefined : `policy: ${rule}`) ??
      filteredBy.get(name) ??
      "",
    reason: excluded.get(name) ?? "",
  });
}

function plannedModels({
  executor,
  planner,
  fallback,
}: LookupStage): MessageInitShape<typeof PlannedModelSchema>[] {
  const named: readonly (readonly [string, ResolvedModel])[] = [
    ...(executor === undefined ? [] : [["executor", executor] as const]),
    ...(planner === undefined ? [] : [["planner", planner] as const]),
    ...fallback.permitted.map((each) => ["fallback", each] as const),
  ];
  return named.map(([role, { model }]) => ({
    role,
    id: model.id,
    provider: model.provider,
    upstreamName: model.upstreamName,
  }));
}
