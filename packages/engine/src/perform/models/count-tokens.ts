import { withheldModel } from "@reeve/agent/policy/caller-policy";
import type { Fact } from "../../domain/state/fact.ts";
import { fact } from "../../domain/state/fact.ts";
import { modelOf } from "../../domain/model/model-of.ts";
import { answerRequest } from "../../domain/model/render-request.ts";
import type { Effect } from "../../domain/next-effects.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import { loadFiles } from "../files/load-files.ts";
import { policyNow } from "../policy-now.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** How long a provider may take to count. */
const timeoutMs = 10_000;

/** Has the provider count the next request of a frame. Without a count, the runtime's own count decides. */
export async function* countTokens(
  state: RunState,
  { scope, frame: frameId }: Extract<Effect, { kind: "count_tokens" }>,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const frame = frameOf(state, frameId);
  const model = modelOf(state, frame);
  const counting = model && ports.provider(model.provider)?.countTokens;
  // The provider of a model that is withheld now must not get the request. The call of the model says why.
  const isWithheld =
    model !== undefined &&
    withheldModel(policyNow(state, ports), model, ports.catalogs().models.models) !== undefined;
  if (isWithheld || model === undefined || counting === undefined) {
    yield [fact(scope, { case: "tokensCounted", value: { error: "the provider does not count" } })];
    return;
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  const request = { model, ...answerRequest(state, frame, undefined) };
  try {
    const until = AbortSignal.any([signal, timeout]);
    using loaded = await loadFiles(state, request, ports, until);
    const inputTokens = await counting({ ...request, ...loaded.files }, until);
    yield [fact(scope, { case: "tokensCounted", value: { inputTokens } })];
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelFailure) && !timeout.aborted) throw error;
    const message =
      error instanceof ModelFailure ? error.message : `no count within ${timeoutMs} ms`;
    yield [fact(scope, { case: "tokensCounted", value: { error: message } })];
  }
}
