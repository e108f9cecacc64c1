import type { Policy } from "@reeve/agent/policy/policy";
import { planForLog } from "@reeve/agent/resolve/fit-plan";
import { assertReads } from "@reeve/agent/resolve/assert-reads";
import { resolveOften } from "@reeve/agent/resolve/recent-resolutions";
import { starterOf, toolContextOf } from "@reeve/agent/resolve/resolve-agent";
import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { ToolContext } from "@reeve/agent/tools/toolbelt";
import type { AgentSpec, Limits } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";
import { reasonName } from "@reeve/platform/reason-name";
import { maxRendered, renderMemories } from "@reeve/memory/render-memories";
import { readHistory } from "@reeve/run/thread/read-history";
import { recordedFiles } from "@reeve/run/parts/recorded-files";
import { defaultHistoryTokens } from "../domain/budget/limits.ts";
import { failRun } from "../domain/end-run.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { missingPolicy } from "./policy-now.ts";
import { preparedDelegate } from "./delegates/prepared-delegate.ts";
import { assertPlugins } from "./plugins/assert-plugins.ts";
import { mediaPrepared } from "../domain/media/media-prepared.ts";
import { workflowPrepared } from "../domain/workflow/workflow-prepared.ts";
import { pinnedPlugins } from "./plugins/pinned-plugins.ts";
import { capabilitiesOf, decisionOf, fallbacksOf } from "./prepared-parts.ts";
import { retrievePassages } from "./retrieve-passages.ts";

/**
 * Returns the facts of all resolved inputs of the run: its preparation, and its plugins if it has any, so that a later owner sees what the first one saw. If any of them
 * cannot be resolved, returns the facts that end the run with the reason.
 */
export async function prepareRun(
  state: RunState,
  created: RunCreated,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  try {
    assertPlugins(state, ports);
    return await prepared(state.head.runId, created, ports, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    const cause = reasonName(error.reason);
    return failRun(state, rootScope, "resolve_failed", error.message, cause);
  }
}

async function prepared(
  runId: string,
  created: RunCreated,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  const { spec } = created;
  if (spec === undefined) {
    throw new Failure("internal", ErrorReason.INTERNAL, "the run has no agent spec");
  }
  const policy = policyOf(runId, created, ports);
  const place = toolContextOf(created, policy, starterOf(created));
  await settleSkills(created, ports, signal);
  const resolved = await resolveWithModels(spec, place, ports, signal);
  assertReads(resolved, recordedFiles(created));
  const { limits, retry, executor, planner, tools, gated, finish, warnings, delegates } = resolved;
  if (warnings.length > 0) ports.logger.warn({ runId, warnings }, "agent spec has warnings");
  const history = await historyFor(runId, created, limits, ports, signal);
  const capabilities = executor && capabilitiesOf(executor);
  const planning = planner && capabilitiesOf(planner);
  const preparation = fact(rootScope, {
    case: "runPrepared",
    value: {
      ...(executor && { model: executor.model, scripted: executor.provider.scripted }),
      gatedTools: [...gated],
      tools: [...tools, ...(finish ? [finish] : [])],
      ...(capabilities && { capabilities }),
      ...(planner && { planningModel: planner.model }),
      ...(planning && { planningCapabilities: planning }),
      limits,
      retry,
      fallbacks: fallbacksOf(resolved),
      history: [...history],
      recalled: resolved.recalls ? [...(await recalledFor(created, ports, signal))] : [],
      ...(resolved.retrieves ? await retrievePassages(created, ports, signal) : {}),
      warnings: [...warnings],
      plan: planForLog(resolved.plan),
      skills: [...resolved.skills],
      delegates: delegates.map((each) => preparedDelegate(each, tools, policy !== undefined)),
      ...(policy && { policy: decisionOf(place.policy, resolved) }),
    },
  });
  return [
    ...workflowPrepared(created),
    ...mediaPrepared(resolved),
    preparation,
    ...pinnedPlugins(spec, resolved),
  ];
}

/** Resolves an agent. What a gateway has stored, and this process has not seen yet, is read first. */
async function resolveWithModels(
  spec: AgentSpec,
  place: ToolContext,
  ports: Pick<RunPorts, "catalogs" | "refreshModels">,
  signal: AbortSignal,
): Promise<ResolvedAgent> {
  try {
    return resolveOften(spec, ports.catalogs(), place);
  } catch (error) {
    if (!(error instanceof Failure) || !missingModel.has(error.reason)) throw error;
    if (ports.refreshModels === undefined) throw error;
    await ports.refreshModels(signal);
    return resolveOften(spec, ports.catalogs(), place);
  }
}

const missingModel: ReadonlySet<ErrorReason> = new Set([
  ErrorReason.MODEL_NOT_FOUND,
  ErrorReason.PROVIDER_NOT_FOUND,
]);

/** Waits for skills that the gateway knew when the run started, and that this process sees later. */
async function settleSkills(
  { spec, delegates }: RunCreated,
  ports: Pick<RunPorts, "skills" | "catalogs">,
  signal: AbortSignal,
): Promise<void> {
  const specs = [spec, ...delegates.map((each) => each.spec)];
  const names = specs.flatMap((each) => each?.skills ?? []);
  const hasAll = () => {
    const known = new Set(ports.catalogs().models.skills.map(({ name }) => name));
    return names.every((name) => known.has(name));
  };
  await ports.skills?.settle?.(hasAll, signal);
}

/** Returns the operator's policy. Throws a Failure if this worker has none although the gateway had one. */
function policyOf(runId: string, { hasPolicy }: RunCreated, ports: RunPorts): Policy | undefined {
  const policy = ports.policy();
  if (policy !== undefined || !hasPolicy) return policy;
  throw new Failure("precondition", ErrorReason.POLICY_DENIED, missingPolicy(runId, ports));
}

/** Returns the conversation of the thread before this run. */
async function historyFor(
  runId: string,
  { tenant, threadId, inherited }: RunCreated,
  { budgets }: Limits,
  { threads }: RunPorts,
  signal: AbortSignal,
): Promise<readonly HistoryMessage[]> {
  if (threadId === "") return [];
  const maxTokens = budgets?.maxHistoryTokens ?? defaultHistoryTokens;
  // The run repeats the input of the runs that it continues, and has their conversation.
  const { runIds: except = [], summarizedRunId: after = "" } = inherited ?? {};
  const options = { runId, maxTokens, except, after };
  return await readHistory(threads, { tenant, thread: threadId }, options, signal);
}

/** Returns the memories of the user that match the input, as one note. */
async function recalledFor(
  { tenant, startedBy, input, memoryEnabled }: RunCreated,
  { memory }: RunPorts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!memoryEnabled) return [];
  const owner = { tenant, user: startedBy };
  const note = renderMemories(await memory.recall(owner, input, maxRendered, signal));
  return note === "" ? [] : [note];
}
