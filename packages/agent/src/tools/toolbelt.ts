import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { PermissionDecision, ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { DelegateAgent } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { delegateIdOf, delegateTool } from "../delegates/delegate-tool.ts";
import { deniesTool, describeDecision } from "../permission/decide-call.ts";
import { agentLevel, policyLevel } from "../permission/permission-levels.ts";
import { isOfPlugin, pluginTools } from "../plugins/plugin-tools.ts";
import { exclusionFilter, filterDecision, filterWarnings } from "./catalog-filter.ts";
import { catalogsFor } from "./catalogs-for.ts";
import { clientTools, leftOutWarning } from "./client-tools.ts";
import { companionsOf } from "./companion-tools.ts";
import type { OfferedTool } from "./exclusion-reason.ts";
import { exclusionReason } from "./exclusion-reason.ts";
import {
  finishSubtaskName,
  runtimeSource,
  runtimeTools,
  retrieveArtifact,
} from "./runtime-tools.ts";
import { editorTools } from "../workflow/building/editor-tools.ts";
import type { SpecWarning } from "../spec/spec-warning.ts";
import { warningOf } from "../spec/spec-warning.ts";
import { stringsOf } from "../spec/string-list.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import { unrestricted, withheldTool } from "../policy/caller-policy.ts";
import type { Withheld } from "../policy/policy.ts";

/** The tools of an agent, with warnings about how it selects them. */
export interface Toolbelt {
  /** Ordered by name. */
  readonly tools: readonly ToolDescriptor[];
  /** For each other tool that is offered, by name, why the agent does not have it. */
  readonly excluded: ReadonlyMap<string, string>;
  /** The tools that the agent would have without the operator's policy, by name. */
  readonly withheld: ReadonlyMap<string, Withheld>;
  /** The tools that the agent would have if no permission rule denied all of their calls, by name. */
  readonly denied: ReadonlyMap<string, PermissionDecision>;
  /** What admits each tool of the agent, by name. */
  readonly admittedBy: ReadonlyMap<string, string>;
  /** The entry of the spec's filter that keeps a tool out, by name. */
  readonly filteredBy: ReadonlyMap<string, string>;
  /** All tools that are offered, by name. */
  readonly offered: ReadonlyMap<string, OfferedTool>;
  readonly warnings: readonly SpecWarning[];
}

/** What decides, beside the agent, which tools a run can have. */
export interface ToolContext {
  /** Whether the run belongs to an editor. */
  readonly isEditor: boolean;
  /** Tools of the runtime that only some runs have, such as those of long-term memory. */
  readonly extraTools: readonly ToolDescriptor[];
  /** What the operator's policy decides for the run. */
  readonly policy: CallerPolicy;
  /** The tools that clients offer to the run. Default: none. */
  readonly offeredTools?: readonly ToolDescriptor[];
  /** The agents that the run can call as tools. Default: none. */
  readonly delegates?: readonly DelegateAgent[];
  /** The plugins of the operator, whose tools an agent that names them has. Default: none. */
  readonly plugins?: readonly OfferedPlugin[];
  /** Whether the deployment has a node registry, so that runs of an editor have the tools of editors. Default: it has none. */
  readonly hasNodeRegistry?: boolean;
  /** Whether the agent works for another one, as its delegate. */
  readonly isDelegate?: boolean;
  /** JSON Schema of the answer, in place of that of the agent. */
  readonly outputSchema?: JsonObject | undefined;
}

const defaultContext: ToolContext = { isEditor: false, extraTools: [], policy: unrestricted };

/**
 * Returns the tools of an agent: those that are offered, permitted by class, of an MCP server that the agent names, of a category
 * that it does not switch off, not removed by its filter, not withheld by the operator's policy, and not denied by a permission rule
 * whatever the arguments are. Throws a Failure with reason TOOL_ID_CONFLICT when two sources offer a tool with the same name.
 */
export function toolbelt(
  spec: AgentSpec,
  catalogs: readonly ToolCatalog[],
  context: ToolContext = defaultContext,
): Toolbelt {
  const ofDelegates = delegateTools(spec, context);
  const ofPlugins = pluginTools(spec, context.plugins ?? []);
  const ofEditor = context.isEditor && context.hasNodeRegistry === true ? editorTools : [];
  const own = [
    ...runtimeTools(spec),
    ...ofEditor,
    ...ofDelegates,
    ...context.extraTools,
    ...ofPlugins,
  ];
  const ofDeployment = offeredTools(catalogsFor(catalogs, spec.deepAgent?.pool), own);
  const injected = Object.keys(spec.injectedToolArgs);
  const ofClients = clientTools(context.offeredTools ?? [], ofDeployment, injected);
  const offered = new Map([...ofDeployment, ...ofClients.offered]);
  const { policy } = context;
  const ownReasonOf = exclusionReason(spec, context);
  const decisionOf = filterDecision(spec);
  const named = new Set(stringsOf(spec.allowedTools).strings);
  const tools: ToolDescriptor[] = [];
  const excluded = new Map<string, string>();
  const withheld = new Map<string, Withheld>();
  const denied = new Map<string, PermissionDecision>();
  const levels = [agentLevel(spec), policyLevel(policy.permissions)].filter(isDefined);
  const admittedBy = new Map<string, string>();
  const filteredBy = new Map<string, string>();
  const missing: SpecWarning[] = [];
  for (const [name, tool] of offered) {
    const ownReason = ownReasonOf(tool);
    const byPolicy = withheldTool(policy, tool.descriptor, catalogs);
    const filter = decisionOf(name);
    const before =
      ownReason ?? (filter.isIn ? byPolicy?.reason : "the agent's tool filter removes it");
    const denial = before === undefined ? deniesTool(levels, tool.descriptor) : undefined;
    if (denial !== undefined) denied.set(name, denial);
    const reason = before ?? (denial && `${describeDecision(denial)} denies every call of it`);
    if (reason === undefined) {
      tools.push(tool.descriptor);
      admittedBy.set(name, filter.by);
    } else excluded.set(name, reason);
    if (ownReason === undefined && !filter.isIn) filteredBy.set(name, filter.by);
    if (byPolicy !== undefined && reason === byPolicy.reason) withheld.set(name, byPolicy);
    // An agent that names a tool, and excludes it nowhere, expects to have it.
    if (ownReason !== undefined && named.has(name) && filter.isIn) {
      missing.push(warningOf(`allowed_tools: the agent does not have "${name}": ${ownReason}`));
    }
  }
  // A result must not name a tool that the agent lacks, unless the agent excludes it expressly.
  const isExcluded = exclusionFilter(spec);
  for (const name of companionsOf(tools, spec)) {
    const tool = offered.get(name);
    if (tool === undefined || !excluded.has(name)) continue;
    if (isExcluded(name) || ownReasonOf(tool) !== undefined) continue;
    if (withheldTool(policy, tool.descriptor, catalogs) !== undefined) continue;
    if (deniesTool(levels, tool.descriptor) !== undefined) continue;
    tools.push(tool.descriptor);
    admittedBy.set(name, "companion");
    excluded.delete(name);
    filteredBy.delete(name);
  }
  const leftOut = [...ofClients.offered].flatMap(([name, { descriptor }]) => {
    const reason = withheld.has(name) ? undefined : excluded.get(name);
    return reason === undefined ? [] : [leftOutWarning(descriptor, reason)];
  });
  return {
    tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    excluded,
    withheld,
    denied,
    admittedBy,
    filteredBy,
    offered,
    warnings: [
      ...filterWarnings(spec, [...offered.keys()]),
      ...missing,
      ...[...ofClients.warnings, ...leftOut].map(warningOf),
      ...[...withheldWarnings(withheld), ...editorWarnings(spec, context)].map(warningOf),
    ],
  };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

/** Returns a warning for each reason of the policy, with the tools that the agent lacks because of it. */
function withheldWarnings(withheld: ReadonlyMap<string, Withheld>): readonly string[] {
  const byReason = Map.groupBy(withheld, ([, { reason }]) => reason);
  return [...byReason].map(([reason, entries]) => {
    const names = entries.map(([name]) => name);
    const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
    return `policy: the agent does not have ${names.slice(0, maxNamed).join(", ")}${more}: ${reason}`;
  });
}

/** How many tools a warning names. */
const maxNamed = 10;

/** Only an editor with a node registry has tools that change its contents. */
function editorWarnings(
  { permissionClasses }: AgentSpec,
  { isEditor, hasNodeRegistry = false }: ToolContext,
): readonly string[] {
  const index = permissionClasses.indexOf("editor_mutate");
  if (hasNodeRegistry) {
    const field = `permission_classes[${index}]`;
    return index < 0 ? [] : [`${field}: has no effect; a run of an editor has the class anyway`];
  }
  const reason = "this deployment has no node registry; tools of the editor are left out";
  return [
    ...(index < 0 ? [] : [`permission_classes[${index}]: ${reason}`]),
    ...(isEditor ? [`chat_context: ${reason}, and workflow_id has no effect`] : []),
  ];
}

/**
 * Returns the tools of the runtime and of all toolhosts, by name. If any toolhost has tools, their results may be large, so the tool
 * that reads large results is added.
 */
function offeredTools(
  catalogs: readonly ToolCatalog[],
  runtimeOwn: readonly ToolDescriptor[],
): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>();
  const hasToolhostTools = catalogs.some(({ tools }) => tools.length > 0);
  const tools = hasToolhostTools ? [...runtimeOwn, retrieveArtifact] : runtimeOwn;
  for (const { tools: offeredHere, isolation } of [{ tools, isolation: "none" }, ...catalogs]) {
    for (const descriptor of offeredHere) {
      const other = offered.get(descriptor.name);
      if (other !== undefined) throw conflict(other.descriptor, descriptor);
      if (descriptor.name === finishSubtaskName) throw conflict(reserved, descriptor);
      offered.set(descriptor.name, { descriptor, isolation });
    }
  }
  return offered;
}

/** Returns the tools that call the delegates of an agent. Those that the run cannot reach have none. */
function delegateTools(
  { delegates }: AgentSpec,
  { delegates: known = [] }: ToolContext,
): readonly ToolDescriptor[] {
  const specs = new Map(known.map(({ agentId, spec }) => [agentId, spec]));
  return [...new Set(delegates)].flatMap((id) => {
    const spec = specs.get(id);
    return spec === undefined ? [] : [delegateTool({ id })];
  });
}

function conflict(first: ToolDescriptor, second: ToolDescriptor): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TOOL_ID_CONFLICT,
    `two sources offer the tool ${first.name}: ${sourceOf(first)} and ${sourceOf(second)}; remove one of them`,
    { metadata: { tool: first.name } },
  );
}

function sourceOf({ name, source, pool }: ToolDescriptor): string {
  const delegate = source === runtimeSource ? delegateIdOf(name) : undefined;
  if (delegate !== undefined) return `the delegate "${delegate}" of the agent`;
  if (isOfPlugin({ source })) return `the plugin "${source.slice("plugin:".length)}" of the agent`;
  return pool === "" ? `the ${source} itself` : `${source} in pool ${pool}`;
}

const reserved = create(ToolDescriptorSchema, { name: finishSubtaskName, source: runtimeSource });
