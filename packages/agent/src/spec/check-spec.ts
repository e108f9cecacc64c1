import type { MessageShape } from "@bufbuild/protobuf";
import { clone, create } from "@bufbuild/protobuf";
import type { AgentSpec, ModelCatalog } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { catalogFilter, suggestion } from "../tools/catalog-filter.ts";
import { permissionWarnings } from "../permission/permission-problems.ts";
import { guardModelViolations } from "../guardrails/guard-models.ts";
import { mediaModelViolations } from "../media/media-models.ts";
import { pluginStage } from "../plugins/plugin-stage.ts";
import { stopWarnings } from "../plugins/stop-warnings.ts";
import { checkDelegates } from "../delegates/check-delegates.ts";
import { skillViolations, skillWarnings } from "../skills/check-skills.ts";
import { endpointViolations, localSpec } from "../resolve/remote-endpoint.ts";
import { deciderProblems } from "../deciders/decider-problems.ts";
import { stepUpProblems } from "../deciders/step-up.ts";
import { operatorWaitProblems, waitWarnings } from "../deciders/wait-of.ts";
import { checkFields } from "./check-fields.ts";
import { checkModels } from "./check-models.ts";
import { defaultAgentId } from "./default-agent-id.ts";
import type { SpecWarning } from "./spec-warning.ts";
import { warningOf, warningText } from "./spec-warning.ts";
import { toolWithParameter } from "../tools/injected-args.ts";
import { limitsFor, limitViolations } from "./limits.ts";
import { longTermMemoryTools } from "../tools/runtime-tools.ts";
import { searchKnowledge } from "../tools/search-knowledge.ts";
import { sandboxProblems } from "../resolve/sandbox-problems.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { loweredMaxima } from "../policy/policy-limits.ts";
import { policyProblems } from "../policy/spec-policy.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { toolbelt } from "../tools/toolbelt.ts";
import { workflowProblems, workflowWarnings } from "../workflow/check/workflow-problems.ts";
import { sizeViolations } from "./spec-size.ts";

/** What a deployment offers to its agents. */
export interface Offer {
  readonly tools: readonly ToolCatalog[];
  readonly models: ModelCatalog;
  /** Whether people can use passkeys. Default: they cannot. */
  readonly hasPasskeys?: boolean;
}

export interface CheckedSpec {
  /** The spec in the form in which it is stored: aliases are resolved, and the id is set. */
  readonly spec: AgentSpec;
  /** Everything that is wrong with the spec, each with its field. Empty when the spec is valid. */
  readonly violations: readonly Violation[];
  readonly warnings: readonly string[];
  /** The warnings, each with its field. */
  readonly details: readonly SpecWarning[];
}

/**
 * Checks a spec against the rules of its contract, against what the deployment offers, and against what the operator's policy
 * decides for all callers of its tenant.
 */
export function checkSpec(
  given: AgentSpec,
  offer: Offer,
  policy: CallerPolicy = unrestricted,
): CheckedSpec {
  const tooLarge = sizeViolations(given);
  const stored = normalized(given);
  const remote = endpointViolations(stored, offer.models);
  // The other checks are about the agent as it is resolved.
  const spec = remote.length > 0 ? stored : localSpec(stored);
  // The other checks compare lists with each other.
  if (tooLarge.length > 0) return { spec: stored, violations: tooLarge, warnings: [], details: [] };
  const maxima = loweredMaxima(offer.models.maxima, policy.limits);
  const models = checkModels(spec, { ...offer.models, ...(maxima && { maxima }) });
  const belt = beltOf(spec, offer, policy);
  const withheld = policyProblems(spec, offer.models, policy);
  const sandboxes = sandboxProblems(spec, belt.tools, offer.tools);
  const plugins = pluginStage(spec, {
    policy,
    hasMemory: false,
    offered: offer.models.plugins,
  });
  const violations = [
    ...ruleViolations(AgentSpecSchema, given),
    ...idViolations(spec),
    ...checkFields(given),
    ...deciderProblems(given.approvalPolicy),
    ...stepUpProblems(given.approvalPolicy, offer.hasPasskeys ?? false),
    ...operatorWaitProblems(spec, policy.waitMs),
    ...plugins.violations,
    ...checkDelegates(spec),
    ...skillViolations(spec, offer.models.skills),
    ...remote,
    ...models.violations,
    ...guardModelViolations(spec, offer.models, limitsFor(spec, maxima)),
    ...mediaModelViolations(spec, offer.models, limitsFor(spec, maxima)),
    ...limitViolations(spec, offer.models.maxima),
    ...belt.violations,
    ...hitlViolations(spec, belt, offer.tools),
    ...injectedViolations(spec, belt),
    ...sandboxes.violations,
    ...withheld.violations,
    ...workflowProblems(spec, belt),
  ];
  const details = [
    ...[...models.warnings, ...sandboxes.warnings].map(warningOf),
    ...plugins.warnings,
    ...belt.warnings,
    ...permissionWarnings(spec, belt),
    ...stopWarnings(spec, belt),
    ...[
      ...waitWarnings(spec.approvalPolicy, belt.tools),
      ...withheld.warnings,
      ...skillWarnings(spec, belt),
      ...unlistedWarnings(spec, offer.tools),
      ...workflowWarnings(spec),
    ].map(warningOf),
  ];
  return {
    spec: stored,
    violations: distinct(violations),
    warnings: details.map(warningText),
    details,
  };
}

function normalized(given: AgentSpec): AgentSpec {
  const spec: MessageShape<typeof AgentSpecSchema> = clone(AgentSpecSchema, given);
  if (spec.maxSteps !== undefined) spec.maxRounds ??= spec.maxSteps;
  delete spec.maxSteps;
  if (spec.id === "") spec.id = defaultAgentId(spec.name);
  return spec;
}

function idViolations({ id, name }: AgentSpec): readonly Violation[] {
  if (id !== "" || name === "") return [];
  const description = `is empty, and "${name}" has no letter or digit to derive it from; set it`;
  return [{ field: "id", description, reason: "REQUIRED" }];
}

function beltOf(
  spec: AgentSpec,
  { tools, models }: Offer,
  policy: CallerPolicy,
): Toolbelt & { readonly violations: readonly Violation[] } {
  try {
    // Only the start of a run decides whether it has long-term memory or collections, so an agent may always name their tools.
    const delegates = spec.delegates.map((id) =>
      create(DelegateAgentSchema, { agentId: id, spec: { id, name: id } }),
    );
    const context = {
      isEditor: false,
      extraTools: [...longTermMemoryTools, searchKnowledge],
      policy,
      delegates,
      plugins: models.plugins,
      hasNodeRegistry: models.nodeRegistry,
    };
    return { ...toolbelt(spec, tools, context), violations: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const violation = { field: "tools", description: error.message, reason: "TOOL_ID_CONFLICT" };
    const none = {
      tools: [],
      excluded: new Map(),
      withheld: new Map(),
      denied: new Map(),
      admittedBy: new Map(),
      filteredBy: new Map(),
      offered: new Map(),
      warnings: [],
    };
    return { ...none, violations: [violation] };
  }
}

function hitlViolations(
  spec: AgentSpec,
  { tools, excluded, withheld }: Toolbelt,
  catalogs: readonly ToolCatalog[],
): readonly Violation[] {
  const present = new Set(tools.map(({ name }) => name));
  const offered = new Set(catalogs.flatMap((catalog) => catalog.tools.map(({ name }) => name)));
  const isInFilter = catalogFilter(spec);
  const names = listed([...present]);
  return spec.hitlTools.flatMap((name, index) => {
    // A tool that the policy withholds needs no approval, and has a warning.
    if (present.has(name) || withheld.has(name)) return [];
    // A delegate may have the tool, and its calls need the approval too.
    if (spec.delegates.length > 0 && offered.has(name)) return [];
    if (isUnlisted(name, spec, catalogs) && isInFilter(name)) return [];
    const reason = excluded.get(name) ?? `its tools are: ${names}${suggestion(name, present)}`;
    const description = `the agent does not have the tool "${name}"; ${reason}`;
    return [{ field: `hitl_tools[${index}]`, description, reason: "TOOL_NOT_FOUND" }];
  });
}

/** How many tools a violation names. */
const maxListed = 30;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
  return `${names.slice(0, maxListed).join(", ")}${more}`;
}

/** Returns whether a tool belongs to a named MCP server that has never listed its tools, so that the tool may exist. */
function isUnlisted(
  name: string,
  { mcpServers }: AgentSpec,
  catalogs: readonly ToolCatalog[],
): boolean {
  const server = mcpServers.find((candidate) => name.startsWith(`mcp__${candidate}__`));
  return server !== undefined && !hasListed(server, catalogs);
}

function hasListed(server: string, catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(({ tools }) => tools.some(({ source }) => source === `mcp:${server}`));
}

function unlistedWarnings(spec: AgentSpec, catalogs: readonly ToolCatalog[]): readonly string[] {
  const known = new Set(
    catalogs.flatMap(({ tools }) =>
      tools.flatMap(({ source }) => (source.startsWith("mcp:") ? [source.slice(4)] : [])),
    ),
  );
  const servers = spec.mcpServers
    .filter((server) => !known.has(server))
    .map(
      (server) =>
        `mcp_servers: "${server}" has not listed any tools yet; the servers that have: ${listed([...known].toSorted())}`,
    );
  const tools = spec.hitlTools
    .filter((name) => isUnlisted(name, spec, catalogs))
    .map((name) => `hitl_tools: it is not known yet whether the tool "${name}" exists`);
  return [...servers, ...tools];
}

function injectedViolations(
  { injectedToolArgs }: AgentSpec,
  { tools }: Toolbelt,
): readonly Violation[] {
  return Object.keys(injectedToolArgs).flatMap((key) => {
    const owner = toolWithParameter(tools, key);
    if (owner === undefined) return [];
    const description = `"${key}" is a parameter of the tool ${owner.name}; choose another name`;
    const field = `injected_tool_args[${JSON.stringify(key)}]`;
    return [{ field, description, reason: "ARGUMENT_COLLISION" }];
  });
}

function distinct(violations: readonly Violation[]): readonly Violation[] {
  const seen = new Set<string>();
  return violations.filter(({ field, description }) => {
    const key = `${field}\n${description}`;
    return !seen.has(key) && seen.add(key);
  });
}
