import type { AgentSpec, Limits, RetryPolicy } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { GuardModel } from "../guardrails/guard-models.ts";
import { resolveGuardModels } from "../guardrails/guard-models.ts";
import { ownRetry } from "../plugins/retry-section.ts";
import type { MediaModels } from "../media/media-models.ts";
import { resolveMediaModels } from "../media/media-models.ts";
import { mediaField } from "../media/media-kinds.ts";
import type { Permitted } from "../policy/apply-policy.ts";
import { assertModelAllowed, lowered, permittedFallbacks } from "../policy/apply-policy.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import type { Offer } from "../spec/check-spec.ts";
import { priceProblem } from "../spec/price-problem.ts";
import { retryPolicyFor } from "../spec/retry-policy.ts";
import { fallbackProblem } from "./fallback-problem.ts";
import { modelWarnings } from "./model-warnings.ts";
import { assertRunnable } from "./remote-endpoint.ts";
import { needsModel } from "../workflow/check/needs-model.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { textProblem } from "./text-problem.ts";
import { resolveModel } from "./resolve-model.ts";

/** The models of an agent, and how they are called. */
export interface LookupStage {
  readonly limits: Limits;
  /** How failed model calls are repeated, with all fields. */
  readonly retry: RetryPolicy;
  /** Undefined for a workflow that calls no model, and names none. */
  readonly executor: ResolvedModel | undefined;
  /** The model of the planner. Undefined when planning is off. */
  readonly planner: ResolvedModel | undefined;
  /** The models that take over from a model that gives no answer, in order. */
  readonly fallback: Permitted<ResolvedModel>;
  /** The models that generate media. */
  readonly media: MediaModels;
  /** The models that guards name. */
  readonly guardModels: readonly GuardModel[];
  /** Warnings about settings that a model does not honor. */
  readonly warnings: readonly string[];
  /** Warnings about limits that the policy lowers. */
  readonly limitWarnings: readonly string[];
}

/**
 * The first stage of a resolution: finds the models that a spec names and their providers. Throws a Failure that names what does not
 * exist, or what the operator's policy withholds.
 */
export function lookupStage(
  spec: AgentSpec,
  { models }: Pick<Offer, "models">,
  policy: CallerPolicy,
): LookupStage {
  assertRunnable(spec, models);
  const { limits, warnings: limitWarnings } = lowered(spec, models.maxima, policy);
  const executor = spec.model === "" && !needsModel(spec) ? undefined : resolveModel(spec, models);
  if (executor !== undefined) assertModelAllowed(policy, "model", executor, models);
  const planner = spec.planningEnabled
    ? resolveModel(
        { model: spec.planningModel ?? spec.model },
        models,
        spec.planningModel === undefined ? "model" : "planning_model",
      )
    : undefined;
  if (planner !== undefined) assertModelAllowed(policy, "planning_model", planner, models);
  const named = spec.fallbackModels.map((model, index) =>
    resolveModel({ model }, models, `fallback_models[${index}]`),
  );
  const fallback = permittedFallbacks(policy, named, models);
  for (const each of fallback.permitted) {
    const problem = executor && fallbackProblem(each, executor);
    if (problem !== undefined) throw invalidAgent(`fallback_models: ${problem}`);
  }
  const all = [executor, planner, ...fallback.permitted].filter((each) => each !== undefined);
  for (const each of all) {
    const unable = textProblem(each);
    if (unable !== undefined) throw invalidAgent(unable);
  }
  for (const { model } of all) {
    const problem = priceProblem(spec, model, limits);
    if (problem !== undefined) throw invalidAgent(`budgets.max_cost_usd: ${problem}`);
  }
  const media = resolveMediaModels(spec, models, limits);
  for (const [kind, each] of media) assertModelAllowed(policy, mediaField(kind), each, models);
  return {
    limits,
    media,
    retry: retryPolicyFor(ownRetry(spec), models.retry),
    executor,
    planner,
    fallback,
    guardModels: resolveGuardModels(spec, models, policy, limits),
    warnings: all.flatMap((resolved) => modelWarnings(spec, resolved)),
    limitWarnings,
  };
}

/** Returns the Failure of an agent that was valid when it was stored, and no longer is. */
export function invalidAgent(message: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_AGENT, message);
}
