import type { AgentSpec, Limits } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { Offer } from "../spec/check-spec.ts";
import { toolWithParameter } from "../tools/injected-args.ts";
import { limitsFor } from "../spec/limits.ts";
import { longTermMemoryTools, runtimeSource } from "../tools/runtime-tools.ts";
import { priceProblem } from "../spec/price-problem.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { resolveModel } from "./resolve-model.ts";
import type { ToolContext } from "../tools/toolbelt.ts";
import { toolbelt } from "../tools/toolbelt.ts";

/** What a run of an agent works with. */
export interface ResolvedAgent {
  readonly limits: Limits;
  readonly executor: ResolvedModel;
  /** The model of the planner; undefined: nothing is planned. */
  readonly planner: ResolvedModel | undefined;
  readonly tools: readonly ToolDescriptor[];
  readonly warnings: readonly string[];
}

/**
 * Resolves an agent against what a deployment offers, as a run is prepared and, before that, as its start is permitted.
 * Throws a Failure that says what cannot be had: things may have changed since the agent was stored.
 */
export function resolveAgent(spec: AgentSpec, offer: Offer, place: ToolContext): ResolvedAgent {
  const { models } = offer;
  const limits = limitsFor(spec, models.maxima);
  const executor = resolveModel(spec, models);
  const planner = spec.planningEnabled ? plannerOf(spec, offer) : undefined;
  for (const resolved of [executor, planner]) {
    const problem = resolved && priceProblem(spec, resolved.model, limits);
    if (problem !== undefined) throw refused(`budgets.max_cost_usd: ${problem}`);
  }
  const { tools, warnings } = toolbelt(spec, offer.tools, place);
  assertInjected(spec, tools);
  return { limits, executor, planner, tools, warnings };
}

/** Where a run takes place, as its start says. */
export function toolContextOf({
  chatContext,
  memoryEnabled,
}: Pick<RunCreated, "chatContext" | "memoryEnabled">): ToolContext {
  return {
    isEditor: chatContext?.kind === ChatContextKind.EDITOR,
    extraTools: memoryEnabled ? longTermMemoryTools : [],
  };
}

function plannerOf({ model, planningModel }: AgentSpec, { models }: Offer): ResolvedModel {
  return resolveModel({ model: planningModel ?? model }, models);
}

/** A tool may have got a parameter of that name since the agent was stored. */
function assertInjected(spec: AgentSpec, tools: readonly ToolDescriptor[]): void {
  for (const key of Object.keys(spec.injectedToolArgs)) {
    const owner = toolWithParameter(tools, key);
    if (owner === undefined) continue;
    const where = owner.source === runtimeSource ? "" : ` of ${owner.source}`;
    const message = `injected_tool_args: "${key}" is a parameter of the tool ${owner.name}${where} now; choose another name`;
    throw refused(message);
  }
}

function refused(message: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_AGENT, message);
}
