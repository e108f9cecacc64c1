import { resolveModel } from "@reeve/agent/resolve-model";
import { toolbelt } from "@reeve/agent/toolbelt";
import { Failure } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { failRun } from "../domain/end-run.ts";
import type { Fact } from "../domain/fact.ts";
import { fact, rootScope } from "../domain/fact.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Catalogs } from "../ports/catalogs.ts";

/**
 * Resolves everything that the run works with into one fact, so that a later owner sees what the first one saw. What
 * cannot be resolved ends the run with the reason: all or nothing.
 */
export function prepareRun(
  state: RunState,
  created: RunCreated,
  catalogs: Catalogs,
): readonly Fact[] {
  const { spec } = created;
  try {
    if (spec === undefined) {
      throw new Failure("internal", ErrorReason.INTERNAL, `run ${state.runId} has no agent spec`);
    }
    const { model, provider } = resolveModel(spec, catalogs.models);
    const { tools } = toolbelt(spec, catalogs.tools);
    const { capabilities, scripted } = provider;
    const value = {
      model,
      scripted,
      tools: capabilities?.tools === false ? [] : [...tools],
      ...(capabilities && { capabilities }),
    };
    return [fact(rootScope, { case: "runPrepared", value })];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return failRun(state, rootScope, "resolve_failed", error.message);
  }
}
