import type { AgentSpec } from "@reeve/contracts/agent";
import type { SandboxFeatures, ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import type { NetworkEntry } from "../spec/network-entry.ts";
import { includesEntry, parseNetworkEntry } from "../spec/network-entry.ts";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";
import { executesCode } from "../tools/isolation.ts";

/** What an agent requests of the sandboxes of its tools, and these do not offer. */
export interface SandboxProblems {
  /** Requests that no toolhost of a pool can honor. */
  readonly violations: readonly Violation[];
  /** Requests that some toolhosts of a pool cannot honor: a call that such a toolhost takes fails. */
  readonly warnings: readonly string[];
}

/** A request of an agent, and whether a sandbox honors it. */
interface SandboxRequest {
  readonly field: string;
  /** What the toolhosts cannot do, after "cannot". */
  readonly action: string;
  readonly remedy: string;
  isHonored(features: SandboxFeatures): boolean;
}

/** Compares the settings of an agent for code and commands with what the toolhosts of its tools have announced. */
export function sandboxProblems(
  spec: Pick<AgentSpec, "deepAgent">,
  tools: readonly ToolDescriptor[],
  catalogs: readonly ToolCatalog[],
): SandboxProblems {
  const violations: Violation[] = [...poolViolations(spec, catalogs)];
  const warnings: string[] = [];
  const requests = requestsOf(spec);
  // Only built-in tools have these settings.
  const executing = tools.filter(
    ({ source, permissionClass }) =>
      source === "builtin" && permissionClass === PermissionClass.EXECUTE,
  );
  for (const pool of new Set(executing.map((tool) => tool.pool))) {
    const hosts = catalogs.filter((each) => each.pool === pool && executesCode(each.isolation));
    for (const { field, action, remedy, isHonored } of requests) {
      // A toolhost of an earlier version does not announce what it offers.
      const unable = hosts.filter(({ sandbox }) => sandbox !== undefined && !isHonored(sandbox));
      if (unable.length === 0) continue;
      const isNone = unable.length === hosts.length;
      const description = `${isNone ? "the" : "some"} toolhosts of the pool ${pool} cannot ${action}; ${remedy}`;
      if (isNone) violations.push({ field, description, reason: unsupportedCapability });
      else warnings.push(`${field}: ${description}`);
    }
  }
  return { violations, warnings };
}

function poolViolations(
  { deepAgent }: Pick<AgentSpec, "deepAgent">,
  catalogs: readonly ToolCatalog[],
): readonly Violation[] {
  const pool = deepAgent?.pool ?? "";
  const pools = [...new Set(catalogs.map((each) => each.pool))].toSorted();
  if (pool === "" || pools.includes(pool)) return [];
  const known = pools.length === 0 ? "none" : pools.slice(0, maxListed).join(", ");
  const description = `no toolhost of the pool "${pool}" has announced its tools; start one with REEVE_POOL=${pool}, or name another pool; there are: ${known}`;
  return [{ field: "deep_agent.pool", description, reason: unsupportedCapability }];
}

/** How many pools a violation names. */
const maxListed = 30;

function requestsOf({ deepAgent }: Pick<AgentSpec, "deepAgent">): readonly SandboxRequest[] {
  const hosts = (deepAgent?.network?.allow ?? []).flatMap((text, index) => {
    const entry = parseNetworkEntry(text, "agent");
    return entry === undefined ? [] : [networkRequest(entry, index)];
  });
  const credentials = (deepAgent?.network?.credentials ?? []).map(credentialRequest);
  return [...(deepAgent?.readOnly === true ? [readOnlyRequest] : []), ...hosts, ...credentials];
}

const readOnlyRequest: SandboxRequest = {
  field: "deep_agent.read_only",
  action: "mount the workspace read-only for code and commands",
  remedy: "leave it out, or exclude execute_code and run_command",
  isHonored: ({ readOnlyWorkspace }) => readOnlyWorkspace,
};

function credentialRequest(name: string, index: number): SandboxRequest {
  return {
    field: `deep_agent.network.credentials[${index}]`,
    action: `use the credential ${name}`,
    remedy:
      "remove it, or add it to REEVE_SECRETS_CONFIG of toolhosts whose sandboxes have a network",
    isHonored: ({ networkCredentials }) => networkCredentials.includes(name),
  };
}

function networkRequest(entry: NetworkEntry, index: number): SandboxRequest {
  return {
    field: `deep_agent.network.allow[${index}]`,
    action: `reach ${entry.text}`,
    remedy:
      "remove it, or add it to REEVE_NETWORK_ALLOW of toolhosts whose sandboxes have a network",
    isHonored: ({ networkAllow }) =>
      networkAllow.some((text) => {
        const permitted = parseNetworkEntry(text, "operator");
        return permitted !== undefined && includesEntry(permitted, entry);
      }),
  };
}
