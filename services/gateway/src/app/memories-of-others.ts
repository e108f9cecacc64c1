import { clone } from "@bufbuild/protobuf";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import { searchKnowledgeName } from "@reeve/agent/tools/search-knowledge";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  PluginHookFinished,
  RunCreated,
  RunEvent,
  ToolResultEvent,
} from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ExecutionTree } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey, RunPartReader } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { kindsIn } from "@reeve/run/head/event-kinds";
import { isPrivateRun } from "@reeve/run/head/private-run";
import { showsMemories, withoutMemories } from "@reeve/run/thread/history/without-memories";

/** The tools whose results one user may read and another may not. */
const memoryTools = new Set([...longTermMemoryTools.map(({ name }) => name), searchKnowledgeName]);
const withheld = "[a memory of another user]";

/** The kinds of events that can contain a memory of the user, or what memory tools were given and returned. */
const memoryKinds = kindsIn({
  runCreated: true,
  runPrepared: true,
  toolCall: true,
  toolResult: true,
  modelTurn: true,
  treeStored: true,
  runClaimed: false,
  runParked: false,
  status: false,
  approval: false,
  error: false,
  costSummary: false,
  messageSubmitted: false,
  step: false,
  text: false,
  reasoning: false,
  textVoided: false,
  toolCallStarted: false,
  mcpProgress: false,
  subtask: false,
  plan: false,
  context: false,
  usage: false,
  modelCallStarted: false,
  modelCallFailed: false,
  modelRetryDue: false,
  tokensCounted: false,
  clientCall: false,
  pluginsPinned: false,
  workflowPrepared: false,
  mediaPrepared: false,
  workflowContinued: false,
  mediaCallStarted: false,
  mediaCallEnded: false,
  remoteTask: false,
  pluginHookFinished: true,
  runEnding: false,
  messageInjected: false,
  memoryWritten: false,
  todosChanged: false,
  cancelRequested: false,
  budgetExceeded: false,
});

/** Whether a run may show what only its user may read: memories, or passages of collections with readers of their own. */
export function hasMemoriesOfAnother(created: RunCreated | undefined, subject: string): boolean {
  return isPrivateRun(created) && created?.startedBy !== subject;
}

/** Throws a Failure if a run may show the memories of a user to another one. `action` is what only the user may do. */
export function assertOwnMemories(
  { runId, created }: { readonly runId: string; readonly created?: RunCreated | undefined },
  subject: string,
  action: string,
): void {
  if (!hasMemoriesOfAnother(created, subject)) return;
  const message = `run ${runId} has the memories of its user, ${created?.startedBy}; nobody else may ${action}`;
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
    metadata: { run_id: runId },
  });
}

/**
 * Removes the memories of the user of a run from its events, for a viewer who is not that user, and those in the history of its
 * thread for everybody.
 */
export class MemoryGuard {
  readonly #logParts: RunPartReader;
  readonly #key: RunKey;
  readonly #viewer: string;
  #isForeign: boolean | undefined;

  constructor(logParts: RunPartReader, key: RunKey, viewer: string) {
    this.#logParts = logParts;
    this.#key = key;
    this.#viewer = viewer;
  }

  /** Returns the events as the viewer may see them. Reads the start of the log only if one of them could show a memory. */
  shown(
    given: readonly RunEvent[],
    signal: AbortSignal,
  ): readonly RunEvent[] | Promise<readonly RunEvent[]> {
    const events = given.map(withCleanHistory);
    return events.some(mayShowMemory) ? this.#withoutForeign(events, signal) : events;
  }

  async #withoutForeign(
    events: readonly RunEvent[],
    signal: AbortSignal,
  ): Promise<readonly RunEvent[]> {
    this.#isForeign ??= await this.#readsForeign(signal);
    return this.#isForeign ? events.map(withoutOwn) : events;
  }

  async #readsForeign(signal: AbortSignal): Promise<boolean> {
    const created = await readCreated(this.#logParts, this.#key, signal);
    // Without its start, nobody knows whose memories the log has.
    return created === undefined || hasMemoriesOfAnother(created, this.#viewer);
  }
}

/** Returns the start of a run. Undefined: its log has none. */
async function readCreated(
  logParts: RunPartReader,
  key: RunKey,
  signal: AbortSignal,
): Promise<RunCreated | undefined> {
  const { events } = await logParts.readPart(key, emptyTail, 1, signal);
  const [first] = events;
  return first?.event.case === "runCreated" ? first.event.value : undefined;
}

/** Returns a tree without what its memory tools were given and returned. */
export function treeWithoutMemories(tree: ExecutionTree): ExecutionTree {
  if (!tree.nodes.some(({ name }) => memoryTools.has(name))) return tree;
  const nodes = tree.nodes.map((node) =>
    memoryTools.has(node.name) ? { ...node, argsPreview: "", resultPreview: withheld } : node,
  );
  return { ...tree, nodes };
}

function mayShowMemory({ event }: RunEvent): boolean {
  if (event.case === undefined || !memoryKinds.has(event.case)) return false;
  if (event.case === "toolCall") return memoryTools.has(event.value.name);
  if (event.case === "toolResult") return memoryTools.has(event.value.result?.name ?? "");
  return true;
}

/** A history does not say whose memories it has. Only versions that put them into histories wrote such an event. */
function withCleanHistory(given: RunEvent): RunEvent {
  if (given.event.case !== "runPrepared" || !given.event.value.history.some(showsMemories)) {
    return given;
  }
  const copy = clone(RunEventSchema, given);
  if (copy.event.case === "runPrepared") {
    copy.event.value.history = [...withoutMemories(copy.event.value.history)];
  }
  return copy;
}

function clearResult(event: ToolResultEvent): void {
  // On failure, it repeats the content.
  if (event.error !== "") event.error = withheld;
  if (event.result === undefined) return;
  event.result.content = withheld;
  event.result.citations = [];
  delete event.result.structured;
  const { metadata } = event.result;
  if (metadata === undefined) return;
  metadata.editedArguments = "";
  delete metadata.injectedArgs;
  delete metadata.permission;
}

/** A hook may have seen a call of a memory tool, or its result, and repeat it. */
function clearHook(hook: PluginHookFinished): void {
  delete hook.answer;
  if (hook.error !== "") hook.error = withheld;
  for (const guard of hook.guards) {
    if (guard.reason !== "") guard.reason = withheld;
    if (guard.problem !== "") guard.problem = withheld;
    guard.redactions = [];
  }
}

function withoutOwn(given: RunEvent): RunEvent {
  if (!mayShowMemory(given)) return given;
  const copy = clone(RunEventSchema, given);
  const { event } = copy;
  if (event.case === "runCreated") delete event.value.inherited;
  if (event.case === "runPrepared")
    Object.assign(event.value, { recalled: [], passages: [], history: [] });
  if (event.case === "toolCall") {
    delete event.value.arguments;
    delete event.value.injectedArgs;
    event.value.rawArguments = "";
  }
  if (event.case === "toolResult") clearResult(event.value);
  if (event.case === "pluginHookFinished") clearHook(event.value);
  // The message of the model contains its calls, in a format of the provider.
  if (event.case === "modelTurn") event.value.messageJson = new Uint8Array();
  if (event.case === "treeStored" && event.value.tree !== undefined) {
    event.value.tree = treeWithoutMemories(event.value.tree);
  }
  return copy;
}
