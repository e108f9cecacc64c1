import type { JsonValue } from "@bufbuild/protobuf";
import type { AgentSpec, Limits, ModelCatalog } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import type { ResolvedModel } from "../resolve/resolve-model.ts";
import { resolveModel } from "../resolve/resolve-model.ts";
import { textProblem } from "../resolve/text-problem.ts";
import { assertModelAllowed } from "../policy/apply-policy.ts";
import type { GuardList } from "./guard.ts";
import { guardPlaces } from "./guard-schema.ts";
import { guardListOf, guardrailsOf, guardrailsSectionName } from "./guardrails-section.ts";
import { sectionOf } from "../plugins/section-violations.ts";

/** A model that guards name, as they name it. */
export interface GuardModel {
  readonly reference: string;
  readonly resolved: ResolvedModel;
}

interface NamedModel {
  readonly reference: string;
  readonly field: string;
}

/** Returns what is wrong with the models that the guards of an agent name. */
export function guardModelViolations(
  spec: AgentSpec,
  models: ModelCatalog,
  limits: Limits,
): readonly Violation[] {
  return modelsInSection(sectionOf(spec, guardrailsSectionName)).flatMap(({ reference, field }) => {
    try {
      const resolved = resolveModel({ model: reference }, models, field);
      const unable = textProblem(resolved);
      if (unable !== undefined) {
        return [{ field, description: unable, reason: "UNSUPPORTED_CAPABILITY" }];
      }
      const problem = priceProblem(resolved, limits);
      return problem === undefined ? [] : [{ field, description: problem, reason: "UNKNOWN_COST" }];
    } catch (error) {
      if (error instanceof Failure) return error.violations;
      throw error;
    }
  });
}

/**
 * Returns the models that the guards of an agent and of the operator name. Throws a Failure that names one that does not exist, that the
 * policy withholds from the agent, or that has no price although the run has a limit on cost. The policy withholds no model from the
 * guards that it states itself.
 */
export function resolveGuardModels(
  spec: AgentSpec,
  models: ModelCatalog,
  policy: CallerPolicy,
  limits: Limits,
): readonly GuardModel[] {
  const ofPolicy = policy.guardrails.flatMap(({ policyRule, section }) =>
    modelsIn(guardListOf(section), `policy.${policyRule}.guardrails`),
  );
  const ofAgent = modelsIn(guardrailsOf(spec), `sections.${guardrailsSectionName}`);
  const found = new Map<string, GuardModel>();
  const named = [
    ...ofPolicy.map((each) => ({ ...each, isOperators: true })),
    ...ofAgent.map((each) => ({ ...each, isOperators: false })),
  ];
  for (const { reference, field, isOperators } of named) {
    const resolved =
      found.get(reference)?.resolved ?? resolveModel({ model: reference }, models, field);
    if (!isOperators) assertModelAllowed(policy, field, resolved, models);
    if (found.has(reference)) continue;
    const problem = textProblem(resolved) ?? priceProblem(resolved, limits);
    if (problem !== undefined) {
      throw new Failure("precondition", ErrorReason.INVALID_AGENT, `${field}: ${problem}`);
    }
    found.set(reference, { reference, resolved });
  }
  return [...found.values()];
}

function modelsIn(list: GuardList | undefined, section: string): readonly NamedModel[] {
  return (list?.guards ?? []).flatMap(({ check, field }) =>
    check.kind === "model" && check.model !== undefined
      ? [{ reference: check.model, field: `${section}.${field}.model.id` }]
      : [],
  );
}

/** Returns the models that a section names, whatever else is wrong with it. */
function modelsInSection(section: JsonValue | undefined): readonly NamedModel[] {
  return guardPlaces.flatMap((place) => {
    const guards = field(section, place);
    return !Array.isArray(guards)
      ? []
      : guards.flatMap((guard, index) => {
          const reference = field(field(guard, "model"), "id");
          const path = `sections.${guardrailsSectionName}.${place}[${index}].model.id`;
          return typeof reference === "string" && reference !== ""
            ? [{ reference, field: path }]
            : [];
        });
  });
}

function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value[name]
    : undefined;
}

/** The runtime limits the length of a verdict, so only the price matters. */
function priceProblem(
  { model: { id, pricing } }: ResolvedModel,
  { budgets }: Pick<Limits, "budgets">,
): string | undefined {
  return budgets?.maxCostUsd === undefined || pricing !== undefined
    ? undefined
    : `model "${id}" has no price, and the cost of the run is limited; add a price in the model registry, or name another model`;
}
