import { create } from "@bufbuild/protobuf";
import type { PlannedDelegate, PlannedModel, ResolutionPlan } from "@reeve/contracts/agent";
import {
  PlannedDelegateSchema,
  PlannedModelSchema,
  PlannedToolSchema,
  ResolutionPlanSchema,
} from "@reeve/contracts/agent";
import type { PreparedDelegate, RunPrepared } from "@reeve/contracts/run";
import { nameOfClass } from "../tools/permission-classes.ts";

/** How many tools that an agent does not have the log of a run lists. */
const maxExcluded = 50;
const byDefault = "default";
const allowed = "allow";

/** Returns what the log of a run records of a plan: what its other fields do not contain. */
export function recordedPlan({
  nodes,
  plugins,
  tools,
  excludedTools,
  excludedCount,
  hash,
}: ResolutionPlan): ResolutionPlan {
  return create(ResolutionPlanSchema, {
    nodes,
    plugins,
    excludedTools: excludedTools.slice(0, maxExcluded),
    excludedCount,
    hash,
    // The class and the source of a tool are in its descriptor.
    tools: tools.map(({ name, admittedBy, calls, callRules }) =>
      create(PlannedToolSchema, {
        name,
        admittedBy: admittedBy === byDefault ? "" : admittedBy,
        calls: calls === allowed ? "" : calls,
        callRules,
      }),
    ),
  });
}

/** Returns the plan of a run as `resolveAgent` made it. Undefined: the log has none. */
export function planOfRun(prepared: RunPrepared | undefined): ResolutionPlan | undefined {
  const plan = prepared?.plan;
  if (prepared === undefined || plan === undefined) return undefined;
  const descriptors = new Map(prepared.tools.map((tool) => [tool.name, tool]));
  return create(ResolutionPlanSchema, {
    ...plan,
    models: modelsOf(prepared),
    delegates: prepared.delegates.map(delegateOf),
    skills: prepared.skills,
    ...(prepared.limits && { limits: prepared.limits }),
    tools: plan.tools.map((tool) => {
      const { permissionClass, source, pool } = descriptors.get(tool.name) ?? {};
      return create(PlannedToolSchema, {
        ...tool,
        admittedBy: tool.admittedBy || byDefault,
        calls: tool.calls || allowed,
        ...(permissionClass !== undefined && { permissionClass: nameOfClass(permissionClass) }),
        ...(source !== undefined && { source }),
        ...(pool !== undefined && { pool }),
      });
    }),
  });
}

function delegateOf(delegate: PreparedDelegate): PlannedDelegate {
  const { agentId, revision, tools, sharedTools, planHash } = delegate;
  return create(PlannedDelegateSchema, {
    agentId,
    revision,
    models: modelsOf(delegate),
    tools: [...tools.map(({ name }) => name), ...sharedTools].toSorted(),
    planHash,
  });
}

function modelsOf({
  model,
  fallbacks,
  planningModel,
}: Pick<RunPrepared, "model" | "fallbacks"> &
  Partial<Pick<RunPrepared, "planningModel">>): PlannedModel[] {
  const named = [
    ["executor", model] as const,
    ["planner", planningModel] as const,
    ...fallbacks.map((fallback) => ["fallback", fallback.model] as const),
  ];
  return named.flatMap(([role, each]) => {
    if (each === undefined) return [];
    const { id, provider, upstreamName } = each;
    return [create(PlannedModelSchema, { role, id, provider, upstreamName })];
  });
}
