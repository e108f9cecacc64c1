import type { AgentSpec, ModelCatalog } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { mediaField, mediaKinds, mediaReference } from "../media/media-kinds.ts";
import type { ResolvedModel } from "../resolve/resolve-model.ts";
import { resolveModel } from "../resolve/resolve-model.ts";
import { lowered, permittedFallbacks, withheldDestination } from "./apply-policy.ts";
import type { CallerPolicy } from "./caller-policy.ts";
import { withheldModel } from "./caller-policy.ts";
import type { Withheld } from "./policy.ts";
import { namedItem } from "./policy-items.ts";

/**
 * Checks what a spec names against the policy for all callers of its tenant. A model, an MCP server, a class, or a host that the
 * policy withholds from all of them is a violation. A fallback model that it withholds, and a limit that it lowers, is a warning.
 */
export function policyProblems(
  spec: AgentSpec,
  models: ModelCatalog,
  policy: CallerPolicy,
): { readonly violations: readonly Violation[]; readonly warnings: readonly string[] } {
  const named: readonly (readonly [string, Withheld | undefined])[] = [
    ["model", withheldReference(spec.model, models, policy, spec.endpoint)],
    ["planning_model", withheldReference(plannerOf(spec), models, policy)],
    ...mediaKinds.map(
      (kind) =>
        [
          mediaField(kind),
          withheldReference(mediaReference(spec.media, kind), models, policy),
        ] as const,
    ),
    ...spec.mcpServers.map(
      (name, index) =>
        [`mcp_servers[${index}]`, policy.withheld(namedItem("mcp_servers", name))] as const,
    ),
    ...spec.permissionClasses.map(
      (name, index) =>
        [`permission_classes[${index}]`, policy.withheld(namedItem("tool_classes", name))] as const,
    ),
    ...(spec.deepAgent?.network?.allow ?? []).map(
      (text, index) =>
        [`deep_agent.network.allow[${index}]`, withheldDestination(policy, text)] as const,
    ),
  ];
  const violations = named.flatMap(([field, withheld]) =>
    withheld === undefined ? [] : [violation(field, withheld)],
  );
  const fallbacks = spec.fallbackModels.flatMap((model) => resolved(model, models) ?? []);
  return {
    violations,
    warnings: [
      ...permittedFallbacks(policy, fallbacks, models).warnings,
      ...lowered(spec, models.maxima, policy).warnings,
    ],
  };
}

function plannerOf({ planningEnabled, planningModel }: AgentSpec): string | undefined {
  return planningEnabled ? planningModel : undefined;
}

function withheldReference(
  reference: string | undefined,
  models: ModelCatalog,
  policy: CallerPolicy,
  endpoint?: unknown,
): Withheld | undefined {
  const found = reference === undefined ? undefined : resolved(reference, models, endpoint);
  return found && withheldModel(policy, found.model, models.models);
}

/** Returns the model of a reference. Undefined if there is none, which another check reports. */
function resolved(
  model: string,
  models: ModelCatalog,
  endpoint?: unknown,
): ResolvedModel | undefined {
  try {
    return resolveModel({ model, endpoint }, models);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function violation(field: string, { reason }: Withheld): Violation {
  const description = `${reason} from every caller of this tenant; remove it, or ask the operator`;
  return { field, description, reason: "POLICY_DENIED" };
}
