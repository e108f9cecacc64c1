import { toolWithParameter } from "@reeve/agent/injected-args";
import { limitsFor } from "@reeve/agent/limits";
import { longTermMemoryTools, ownSource } from "@reeve/agent/own-tools";
import type { ResolvedModel } from "@reeve/agent/resolve-model";
import { resolveModel } from "@reeve/agent/resolve-model";
import { toolbelt } from "@reeve/agent/toolbelt";
import type { AgentSpec, Limits, ProviderCapabilities } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { mostTold, toldMemories } from "@reeve/memory/told-memories";
import { readThread } from "@reeve/thread/commit-thread";
import { windowHistory } from "@reeve/thread/window-history";
import { usualHistoryTokens } from "../domain/budget/limits.ts";
import { failRun } from "../domain/end-run.ts";
import type { Fact } from "../domain/fact.ts";
import { fact, rootScope } from "../domain/fact.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Catalogs } from "../ports/catalogs.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Resolves everything that the run works with into one fact, so that a later owner sees what the first one saw. What
 * cannot be resolved ends the run with the reason: all or nothing.
 */
export async function prepareRun(
  state: RunState,
  created: RunCreated,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  try {
    return [await prepared(state.runId, created, ports, signal)];
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    return failRun(state, rootScope, "resolve_failed", error.message);
  }
}

async function prepared(
  runId: string,
  created: RunCreated,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Fact> {
  const { spec } = created;
  if (spec === undefined) {
    throw new Failure("internal", ErrorReason.INTERNAL, "the run has no agent spec");
  }
  const { models, tools: catalogs } = ports.catalogs();
  const limits = limitsFor(spec, models.maxima);
  const executor = resolveModel(spec, models);
  const planner = spec.planningEnabled
    ? resolveModel({ model: spec.planningModel ?? spec.model }, models)
    : undefined;
  for (const resolved of [executor, planner]) if (resolved) checkPrice(spec, resolved, limits);
  const { tools, warnings } = toolsFor(created, spec, catalogs);
  if (warnings.length > 0) ports.logger.warn({ runId, warnings }, "agent is suspicious");
  const history = await historyFor(runId, created, limits, ports, signal);
  const capabilities = capabilitiesOf(executor);
  const planning = planner && capabilitiesOf(planner);
  return fact(rootScope, {
    case: "runPrepared",
    value: {
      model: executor.model,
      scripted: executor.provider.scripted,
      tools: capabilities?.tools === false ? [] : [...tools],
      ...(capabilities && { capabilities }),
      ...(planner && { planningModel: planner.model }),
      ...(planning && { planningCapabilities: planning }),
      limits,
      history: [...history],
      recalled: [...(await recalledFor(created, ports, signal))],
      warnings: [...warnings],
    },
  });
}

/** The conversation of the thread up to this run. */
async function historyFor(
  runId: string,
  { tenant, threadId }: RunCreated,
  { budgets }: Limits,
  { threads }: RunPorts,
  signal: AbortSignal,
): Promise<readonly HistoryMessage[]> {
  if (threadId === "") return [];
  const state = await readThread(threads, { tenant, thread: threadId }, signal);
  return windowHistory(state, runId, budgets?.maxHistoryTokens ?? usualHistoryTokens);
}

/** What is remembered of the user and fits the input, as one note. */
async function recalledFor(
  { tenant, startedBy, input, memoryEnabled }: RunCreated,
  { memory }: RunPorts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!memoryEnabled) return [];
  const owner = { tenant, user: startedBy };
  const told = toldMemories(await memory.recall(owner, input, mostTold, signal));
  return told === "" ? [] : [told];
}

/** What a model is able to do: what is registered of it, or else whatever its provider is. */
function capabilitiesOf({ model, provider }: ResolvedModel): ProviderCapabilities | undefined {
  return model.capabilities ?? provider.capabilities;
}

function toolsFor(created: RunCreated, spec: AgentSpec, catalogs: Catalogs["tools"]) {
  const isEditor = created.chatContext?.kind === ChatContextKind.EDITOR;
  const { tools, warnings } = toolbelt(spec, catalogs, {
    isEditor,
    further: created.memoryEnabled ? longTermMemoryTools : [],
  });
  checkInjected(spec, tools);
  const missing = isEditor
    ? ["chat_context: this deployment has no node registry; tools of the editor are left out"]
    : [];
  return { tools, warnings: [...warnings, ...missing] };
}

/** Checked when the agent was stored; but a tool may have got a parameter of that name since. */
function checkInjected(spec: AgentSpec, tools: readonly ToolDescriptor[]): void {
  for (const key of Object.keys(spec.injectedToolArgs)) {
    const owner = toolWithParameter(tools, key);
    if (owner === undefined) continue;
    const where = owner.source === ownSource ? "" : ` of ${owner.source}`;
    const message = `injected_tool_args: "${key}" is a parameter of the tool ${owner.name}${where} now; choose another name`;
    throw new Failure("precondition", ErrorReason.INVALID_AGENT, message);
  }
}

/** Under a cap on cost, nothing is called whose price cannot be reckoned beforehand. */
function checkPrice(spec: AgentSpec, { model }: ResolvedModel, { budgets }: Limits): void {
  if (budgets?.maxCostUsd === undefined) return;
  if (model.pricing === undefined) {
    const message = `budgets.max_cost_usd: model "${model.id}" has no price; give it one in the registry of models, or take the cap away`;
    throw new Failure("precondition", ErrorReason.INVALID_AGENT, message);
  }
  if ((spec.maxTokens ?? 0) > 0 || model.maxOutputTokens > 0) return;
  const message = `budgets.max_cost_usd: nothing says how long an answer of model "${model.id}" may be; set max_tokens, or max_output_tokens in the registry of models`;
  throw new Failure("precondition", ErrorReason.INVALID_AGENT, message);
}
