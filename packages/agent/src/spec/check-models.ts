import type { AgentSpec, ModelCatalog } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { answerProblem, fallbackProblem } from "../resolve/fallback-problem.ts";
import { modelWarnings } from "../resolve/model-warnings.ts";
import type { ResolvedModel } from "../resolve/resolve-model.ts";
import { resolveModel } from "../resolve/resolve-model.ts";
import { textProblem } from "../resolve/text-problem.ts";
import { limitsFor } from "./limits.ts";
import { priceProblem } from "./price-problem.ts";

/** A model that a spec names, and the field that names it. */
interface NamedModel {
  readonly field: string;
  /** The model, or the reasons why there is none. */
  readonly found: ResolvedModel | readonly Violation[];
}

/** Checks each model that a spec names: that it exists, has a price under a cap on cost, and honors the settings of the spec. */
export function checkModels(
  spec: AgentSpec,
  models: ModelCatalog,
): { readonly violations: readonly Violation[]; readonly warnings: readonly string[] } {
  const named = namedModels(spec, models);
  const resolved = named.flatMap(({ found }) => ("model" in found ? [found] : []));
  const unable = named.flatMap(({ field, found }) => {
    const description = "model" in found ? textProblem(found) : undefined;
    return description === undefined
      ? []
      : [{ field, description, reason: "UNSUPPORTED_CAPABILITY" }];
  });
  const warnings = resolved.flatMap((model) => modelWarnings(spec, model));
  return {
    violations: [
      ...named.flatMap(({ field, found }) => ("model" in found ? [] : renamed(found, field))),
      ...unable,
      ...fallbackViolations(named),
      ...answerViolations(spec, named),
      ...priceViolations(spec, resolved, models),
    ],
    warnings: [...new Set(warnings)],
  };
}

/** The planning fields, such as the planner's model, are ignored when planning is off. */
function namedModels(spec: AgentSpec, models: ModelCatalog): readonly NamedModel[] {
  const { model, planningEnabled, planningModel, fallbackModels } = spec;
  const references: readonly (readonly [field: string, reference: string])[] = [
    ["model", model],
    ["planning_model", planningEnabled ? (planningModel ?? "") : ""],
    ...fallbackModels.map((each, index) => [`fallback_models[${index}]`, each] as const),
  ];
  return references
    .filter(([, reference]) => reference !== "")
    .map(([field, reference]) => {
      const endpoint = field === "model" ? spec.endpoint : undefined;
      return { field, found: resolvedOr({ model: reference, endpoint }, models) };
    });
}

function resolvedOr(
  reference: Parameters<typeof resolveModel>[0],
  models: ModelCatalog,
): NamedModel["found"] {
  try {
    return resolveModel(reference, models);
  } catch (error) {
    if (error instanceof Failure) return error.violations;
    throw error;
  }
}

function renamed(violations: readonly Violation[], field: string): readonly Violation[] {
  return violations.map((violation) => ({ ...violation, field }));
}

function fallbackViolations(named: readonly NamedModel[]): readonly Violation[] {
  const first = named.find(({ field }) => field === "model")?.found;
  return named.flatMap(({ field, found }) => {
    if (!field.startsWith("fallback_models") || first === undefined) return [];
    if (!("model" in first) || !("model" in found)) return [];
    const description = fallbackProblem(found, first);
    return description === undefined
      ? []
      : [{ field, description, reason: "UNSUPPORTED_CAPABILITY" }];
  });
}

function answerViolations(
  { outputSchema }: AgentSpec,
  named: readonly NamedModel[],
): readonly Violation[] {
  const first = named.find(({ field }) => field === "model")?.found;
  if (outputSchema === undefined || first === undefined || !("model" in first)) return [];
  const description = answerProblem(first);
  return description === undefined
    ? []
    : [{ field: "output_schema", description, reason: "UNSUPPORTED_CAPABILITY" }];
}

function priceViolations(
  spec: AgentSpec,
  resolved: readonly ResolvedModel[],
  { maxima }: ModelCatalog,
): readonly Violation[] {
  const limits = limitsFor(spec, maxima);
  return resolved.flatMap(({ model }) => {
    const description = priceProblem(spec, model, limits);
    return description === undefined
      ? []
      : [{ field: "budgets.max_cost_usd", description, reason: "UNKNOWN_COST" }];
  });
}
