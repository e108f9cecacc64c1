import { namesOfferedPlugin } from "@reeve/agent/plugins/builtin-plugins";
import { guardrailsSectionName } from "@reeve/agent/guardrails/guardrails-section";
import { stopSectionName } from "@reeve/agent/plugins/stop-section";
import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { QueueHolder } from "@reeve/contracts/queue";
import { CheckedRule } from "@reeve/contracts/queue";
import type { RunCreated } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";

/** What the name of a runtime begins with, in every version. */
export const runtimePrefix = "runtime-";

/** The rules that a runtime of this version checks. */
export const allCheckedRules: readonly CheckedRule[] = [
  CheckedRule.STEP_UP,
  CheckedRule.STOP_CONDITIONS,
  CheckedRule.OUTPUT_SCHEMA,
  CheckedRule.DELEGATES,
  CheckedRule.CONTENT_PARTS,
  CheckedRule.SKILLS,
  CheckedRule.CLIENT_TOOLS,
  CheckedRule.PLUGINS,
  CheckedRule.WORKFLOW,
  CheckedRule.EDITOR,
  CheckedRule.GUARDRAILS,
  CheckedRule.DELEGATE_PLUGINS,
  CheckedRule.STORED_MODELS,
  CheckedRule.MEDIA,
  CheckedRule.COLLECTIONS,
  CheckedRule.ENDPOINT,
  CheckedRule.WORKFLOW_CONTINUATION,
];

/** The field of an agent, or of the request that starts a run, that states a rule. */
const fieldOf = {
  [CheckedRule.STEP_UP]: "approval_policy.step_up",
  [CheckedRule.STOP_CONDITIONS]: "sections.stop",
  [CheckedRule.OUTPUT_SCHEMA]: "output_schema",
  [CheckedRule.DELEGATES]: "delegates",
  [CheckedRule.CONTENT_PARTS]: "parts",
  [CheckedRule.SKILLS]: "skills",
  [CheckedRule.CLIENT_TOOLS]: "client_tools",
  [CheckedRule.PLUGINS]: "plugin_ids",
  [CheckedRule.WORKFLOW]: "workflow",
  [CheckedRule.EDITOR]: "chat_context",
  [CheckedRule.GUARDRAILS]: "sections.guardrails",
  [CheckedRule.DELEGATE_PLUGINS]: "plugin_ids of delegates",
  [CheckedRule.STORED_MODELS]: "model, which is stored",
  [CheckedRule.MEDIA]: "media",
  [CheckedRule.COLLECTIONS]: "collections",
  [CheckedRule.ENDPOINT]: "endpoint",
  [CheckedRule.WORKFLOW_CONTINUATION]: "workflow, of which nodes have ended",
} as const;

/** A rule that a runtime may ignore. */
export type IgnorableRule = keyof typeof fieldOf;

/** What the request that starts a run, or its first fact, states itself. */
type StatedByRun = Partial<
  Pick<
    RunCreated,
    | "outputSchema"
    | "parts"
    | "messages"
    | "delegates"
    | "offeredTools"
    | "chatContext"
    | "collections"
    | "inherited"
  >
> & {
  /** Whether it calls models or providers that are stored through the API. Default: false. */
  readonly usesStoredModels?: boolean;
};

type CheckedSpec = Pick<
  AgentSpec,
  | "approvalPolicy"
  | "sections"
  | "outputSchema"
  | "delegates"
  | "skills"
  | "pluginIds"
  | "workflow"
  | "media"
  | "collections"
  | "endpoint"
>;

/** Returns the rules of an agent, and of the request that starts a run of it, that runtimes of earlier versions ignore. */
export function ignorableRules(
  spec: CheckedSpec | undefined,
  {
    outputSchema = spec?.outputSchema,
    parts = [],
    messages = [],
    delegates = [],
    offeredTools = [],
    chatContext,
    usesStoredModels = false,
    collections = [],
    inherited,
  }: StatedByRun = {},
): readonly IgnorableRule[] {
  const stated: readonly (readonly [IgnorableRule, boolean])[] = [
    [CheckedRule.STEP_UP, spec?.approvalPolicy?.stepUp !== undefined],
    [CheckedRule.STOP_CONDITIONS, Object.hasOwn(spec?.sections ?? {}, stopSectionName)],
    [CheckedRule.OUTPUT_SCHEMA, outputSchema !== undefined],
    [CheckedRule.DELEGATES, (spec?.delegates.length ?? 0) > 0],
    [CheckedRule.CONTENT_PARTS, [...parts, ...messages.flatMap((each) => each.parts)].length > 0],
    [CheckedRule.SKILLS, hasSkills(spec, delegates)],
    [CheckedRule.CLIENT_TOOLS, offeredTools.length > 0],
    [CheckedRule.WORKFLOW, hasWorkflow(spec, delegates)],
    [CheckedRule.MEDIA, generatesMedia(spec, delegates)],
    [CheckedRule.ENDPOINT, hasEndpoint(spec, delegates)],
    [CheckedRule.EDITOR, chatContext?.kind === ChatContextKind.EDITOR],
    [CheckedRule.PLUGINS, spec !== undefined && namesOfferedPlugin(spec)],
    [CheckedRule.GUARDRAILS, hasGuardrails(spec, delegates)],
    [
      CheckedRule.DELEGATE_PLUGINS,
      delegates.some((each) => each.spec !== undefined && namesOfferedPlugin(each.spec)),
    ],
    [CheckedRule.STORED_MODELS, usesStoredModels],
    [CheckedRule.WORKFLOW_CONTINUATION, inherited !== undefined && spec?.workflow !== undefined],
    [CheckedRule.COLLECTIONS, collections.length > 0 || hasCollections(spec, delegates)],
  ];
  return stated.filter(([, isStated]) => isStated).map(([rule]) => rule);
}

/** Whether an agent, or an agent that it can call, has a workflow. */
function hasWorkflow(
  spec: Pick<AgentSpec, "workflow"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  return [spec, ...delegates.map((each) => each.spec)].some((each) => each?.workflow !== undefined);
}

/** Whether an agent, or an agent that it can call, generates media. */
function generatesMedia(
  spec: Pick<AgentSpec, "media"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  return [spec, ...delegates.map((each) => each.spec)].some((each) => each?.media !== undefined);
}

/** Whether an agent, or an agent that it can call, works elsewhere. */
function hasEndpoint(
  spec: Pick<AgentSpec, "endpoint"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  return [spec, ...delegates.map((each) => each.spec)].some((each) => each?.endpoint !== undefined);
}

/** Whether an agent, or an agent that it can call, has skills. */
function hasSkills(
  spec: Pick<AgentSpec, "skills"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  const specs = [spec, ...delegates.map((each) => each.spec)];
  return specs.some((each) => each !== undefined && each.skills.length > 0);
}

/** Whether an agent, or an agent that it can call, has collections. */
function hasCollections(
  spec: Pick<AgentSpec, "collections"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  const specs = [spec, ...delegates.map((each) => each.spec)];
  return specs.some((each) => each !== undefined && each.collections.length > 0);
}

/** Whether an agent, or an agent that it can call, has guards. */
function hasGuardrails(
  spec: Pick<AgentSpec, "sections"> | undefined,
  delegates: RunCreated["delegates"],
): boolean {
  const specs = [spec, ...delegates.map((each) => each.spec)];
  return specs.some((each) => Object.hasOwn(each?.sections ?? {}, guardrailsSectionName));
}

/** The processes that take work. */
export type Holders = Pick<Table<QueueHolder>, "list">;

/**
 * Throws a Failure of kind `precondition` that names the runtimes that may be alive and ignore a rule: any of them may execute the call. One
 * that other processes took for dead may only have lost its connection, so it counts until its row has expired. Throws one of kind
 * `unavailable` if the runtimes are not known.
 */
export async function assertChecked(
  holders: Holders,
  rules: readonly IgnorableRule[],
  signal: AbortSignal,
): Promise<void> {
  if (rules.length === 0) return;
  const rows = await holders.list("", signal);
  const runtimes = rows
    .map(({ record }) => record)
    .filter(({ holder }) => holder.startsWith(runtimePrefix));
  for (const rule of rules) {
    const ignoring = runtimes.filter(({ checks }) => !checks.includes(rule));
    if (ignoring.length > 0) throw ignored(rule, ignoring);
  }
}

function ignored(rule: IgnorableRule, runtimes: readonly QueueHolder[]): Failure {
  const names = runtimes.map(({ holder }) => holder).toSorted();
  const shown = names.slice(0, 5).join(", ");
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return new Failure(
    "precondition",
    ErrorReason.RUNTIME_OUTDATED,
    `${shown}${more} would ignore ${fieldOf[rule]}: update all runtimes first; one that was killed counts until its row in the bucket queue_holders expires, an hour at most`,
    { metadata: { runtimes: names.slice(0, 20).join(","), field: fieldOf[rule] } },
  );
}
