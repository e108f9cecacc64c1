import type { AgentSpec, Limits, ModelSpec } from "@reeve/contracts/agent";
import { Failure } from "@reeve/platform/failure";
import { resolveModel } from "../resolve/resolve-model.ts";
import { sandboxProblems } from "../resolve/sandbox-problems.ts";
import type { Offer } from "../spec/check-spec.ts";
import type { Toolbelt, ToolContext } from "../tools/toolbelt.ts";
import { toolbelt } from "../tools/toolbelt.ts";
import { lowered, withheldDestination } from "./apply-policy.ts";
import { withheldModel, withheldTool } from "./caller-policy.ts";
import type { Withheld } from "./policy.ts";
import { imagesOf, namedItem } from "./policy-items.ts";

/** Whether an agent may use something. `rule` and `reason` are empty if it may; `rule` is empty if no rule withholds it. */
export interface Access {
  readonly kind: "tool" | "model" | "network_host" | "image" | "pool";
  readonly name: string;
  readonly allowed: boolean;
  readonly rule: string;
  readonly reason: string;
}

/**
 * Returns what an agent may use in runs of one caller: each tool, image, and pool that is offered, each model of the registry and of the
 * spec, and each host of the spec. A rule of the policy is named before any other reason. `belt` is the toolbelt of the agent in this
 * context, if the caller has it. Throws a Failure with reason TOOL_ID_CONFLICT as `toolbelt` does.
 */
export function explainAgent(
  spec: AgentSpec,
  offer: Offer,
  context: ToolContext,
  belt: Toolbelt = toolbelt(spec, offer.tools, {
    plugins: offer.models.plugins,
    hasNodeRegistry: offer.models.nodeRegistry,
    ...context,
  }),
): { readonly entries: readonly Access[]; readonly limits: Limits } {
  const { policy } = context;
  return {
    entries: [
      ...toolAccess(belt, offer, context),
      ...modelAccess(spec, offer, context),
      ...hostAccess(spec, offer, context, belt),
      ...imagesOf(offer.tools).map((image) =>
        accessOf("image", image, policy.withheld(namedItem("images", image))),
      ),
      ...poolsOf(offer).map((pool) =>
        accessOf("pool", pool, policy.withheld(namedItem("pools", pool))),
      ),
    ],
    limits: lowered(spec, offer.models.maxima, policy).limits,
  };
}

function toolAccess(belt: Toolbelt, offer: Offer, context: ToolContext): readonly Access[] {
  const offered = new Map(
    [...belt.offered.values()].map(({ descriptor }) => [descriptor.name, descriptor]),
  );
  const present = belt.tools.map(({ name }) => accessOf("tool", name, undefined));
  const absent = [...belt.excluded].map(([name, reason]) => {
    const tool = offered.get(name);
    const byRule =
      belt.withheld.get(name) ?? (tool && withheldTool(context.policy, tool, offer.tools));
    const denial = belt.denied.get(name);
    const access = accessOf("tool", name, byRule, reason);
    return denial === undefined ? access : { ...access, rule: denial.policyRule };
  });
  return byName([...present, ...absent]);
}

function modelAccess(
  spec: AgentSpec,
  { models }: Offer,
  { policy }: ToolContext,
): readonly Access[] {
  const named = [spec.model, spec.planningModel ?? ""].filter((reference) => reference !== "");
  const found = new Map<string, ModelSpec>(models.models.map((model) => [model.id, model]));
  const missing: Access[] = [];
  for (const reference of new Set([...named, ...spec.fallbackModels])) {
    try {
      const endpoint = reference === spec.model ? spec.endpoint : undefined;
      const { model } = resolveModel({ model: reference, endpoint }, models);
      found.set(model.id, model);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!found.has(reference))
        missing.push(accessOf("model", reference, undefined, error.message));
    }
  }
  const known = [...found.values()].map((model) =>
    accessOf("model", model.id, withheldModel(policy, model, models.models)),
  );
  return byName([...known, ...missing]);
}

function hostAccess(
  spec: AgentSpec,
  offer: Offer,
  context: ToolContext,
  belt: Toolbelt,
): readonly Access[] {
  const { violations } = sandboxProblems(spec, belt.tools, offer.tools);
  return (spec.deepAgent?.network?.allow ?? []).map((text, index) => {
    const field = `deep_agent.network.allow[${index}]`;
    const problem = violations.find((violation) => violation.field === field)?.description;
    return accessOf("network_host", text, withheldDestination(context.policy, text), problem);
  });
}

function poolsOf({ tools }: Offer): readonly string[] {
  return [...new Set(tools.map(({ pool }) => pool))].toSorted();
}

function accessOf(
  kind: Access["kind"],
  name: string,
  withheld: Withheld | undefined,
  other?: string,
): Access {
  const reason = withheld?.reason ?? other;
  return {
    kind,
    name,
    allowed: reason === undefined,
    rule: withheld?.rule ?? "",
    reason: reason ?? "",
  };
}

function byName(entries: readonly Access[]): readonly Access[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
