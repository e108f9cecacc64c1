import type { JsonValue } from "@bufbuild/protobuf";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { answerOf } from "@reeve/agent/workflow/call-outputs";
import { isOrderOnly } from "@reeve/agent/workflow/handles";
import type { KnownNodes, NodeInputs, NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import { inputsOf } from "@reeve/agent/workflow/node-inputs";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { Call, Frame, FrameWorkflow } from "../state/frame.ts";
import { notExecuted } from "../stop/stopped-call.ts";
import { errorOutputs } from "./call-value.ts";
import { callsInProgress } from "./calls-in-progress.ts";
import type { GivenNode, NodeProgress } from "./node-progress.ts";
import type { NodeStart } from "./node-starts.ts";
import type { WorkflowPlan } from "./plan-of.ts";
import { planOf } from "./plan-of.ts";
import type { PartialSource } from "./ready-node.ts";
import { progressOfReady } from "./ready-node.ts";

/** What follows from the calls of a workflow. */
export interface Evaluation {
  /** The calls that may start now: some of them, as far as there is room. None after a failure. */
  readonly starts: readonly NodeStart[];
  /** Why the workflow fails, with the name of the node. Undefined: it does not. */
  readonly failure: string | undefined;
  /** The values of the outputs so far. Undefined: no output has one. */
  readonly answer: JsonValue | undefined;
}

const known = new WeakMap<Frame, Evaluation>();

/** Returns what follows from the calls of a frame's workflow, of which `parallelCalls` may run at the same time. */
export function evaluate(frame: Frame, workflow: FrameWorkflow, parallelCalls: number): Evaluation {
  const before = known.get(frame);
  if (before !== undefined) return before;
  const evaluation = evaluated(frame, workflow, parallelCalls);
  known.set(frame, evaluation);
  return evaluation;
}

function evaluated(frame: Frame, workflow: FrameWorkflow, parallelCalls: number): Evaluation {
  const plan = planOf(frame, workflow);
  const calls = Map.groupBy(frame.calls, ({ call }) => call.nodeId);
  const before = new EndedNodes(plan);
  const room = parallelCalls - callsInProgress(frame);
  const starts: NodeStart[] = [];
  const failures: string[] = plan.graph.cyclic.length === 0 ? [] : [cycleOf(plan)];
  for (const id of plan.graph.order) {
    const node = plan.graph.nodes.get(id);
    if (node === undefined) continue;
    const given = { frame, workflow, plan, room, calls: calls.get(id) ?? [] };
    const progress = progressOf(node, given, before);
    if (progress.kind === "running") starts.push(...progress.starts);
    if (progress.kind === "ended") before.add(id, progress.outputs, progress.cutBy);
    if (progress.kind !== "failed") continue;
    if (node.properties?.["on_error"] === "continue") before.add(id, errorOf(progress), "");
    else failures.push(`node "${id}" failed: ${progress.problem}`);
  }
  const failure =
    failures.find((each) => !isConsequence(each)) ?? failures[0] ?? refusedAnswer(frame);
  const answer = workflow.guardedAnswer?.replacement ?? answerOf(workflow.graph, before.outputsOf);
  return { starts: failure === undefined ? starts : [], failure, answer };
}

/** Begins why a workflow ends that another one called. */
export const callerFailed = "the workflow that called it failed: ";

/** Whether a node failed only because the workflow had failed before. */
function isConsequence(failure: string): boolean {
  return failure.includes(notExecuted) || failure.includes(callerFailed);
}

/** The nodes that have ended, of those that come before one. */
class EndedNodes implements KnownNodes {
  readonly #outputs = new Map<string, NodeOutputs>();
  readonly #cutBy = new Map<string, string>();
  readonly #plan: WorkflowPlan;
  readonly typeOf: WorkflowPlan["typeOf"];

  constructor(plan: WorkflowPlan) {
    this.#plan = plan;
    this.typeOf = plan.typeOf;
  }

  readonly outputsOf = (id: string): NodeOutputs | undefined => this.#outputs.get(id);

  add(id: string, outputs: NodeOutputs, cutBy: string): void {
    this.#outputs.set(id, outputs);
    if (cutBy !== "") this.#cutBy.set(id, cutBy);
  }

  /** Returns the outputs of the sources of a node, in the order of its edges. */
  sourcesOf(id: string): readonly (NodeOutputs | undefined)[] {
    return this.#plan.graph.edgesTo(id).map(({ source }) => this.#outputs.get(source));
  }

  /** Returns a source of a node's values that has only a part of its result. */
  partialSourceOf(id: string): PartialSource | undefined {
    for (const edge of this.#plan.graph.edgesTo(id)) {
      const cutBy = this.#cutBy.get(edge.source);
      if (cutBy !== undefined && !isOrderOnly(edge)) return { id: edge.source, cutBy };
    }
    return undefined;
  }
}

/** What was found out about a node, and from what. */
interface Found {
  readonly sources: readonly (NodeOutputs | undefined)[];
  readonly inputs: NodeInputs;
  readonly calls: readonly Call[];
  /** For how many calls there was room. */
  readonly room: number;
  readonly progress: NodeProgress;
}

/** The latest of each node, by its id: an event changes few of them. */
const latest = new WeakMap<WorkflowPlan, Map<string, Found>>();

function progressOf(node: WorkflowNode, given: GivenNode, before: EndedNodes): NodeProgress {
  const ofPlan = latest.get(given.plan) ?? new Map<string, Found>();
  latest.set(given.plan, ofPlan);
  const last = ofPlan.get(node.id);
  const { calls, room } = given;
  const sources = before.sourcesOf(node.id);
  const hasSameInputs = last !== undefined && isSame(last.sources, sources);
  if (hasSameInputs && isSame(last.calls, calls)) {
    // What starts depends on the calls of other nodes, too.
    if (last.progress.kind !== "running" || last.room === room) return last.progress;
  }
  const inputs = hasSameInputs ? last.inputs : inputsOf(node, given.plan.graph, before);
  const progress = progressWith(node, given, inputs, before);
  ofPlan.set(node.id, { sources, inputs, calls, room, progress });
  return progress;
}

function isSame<Item>(some: readonly Item[], others: readonly Item[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index]);
}

const skipped: NodeProgress = { kind: "ended", outputs: new Map(), cutBy: "" };

function progressWith(
  node: WorkflowNode,
  given: GivenNode,
  inputs: NodeInputs,
  before: EndedNodes,
): NodeProgress {
  switch (inputs.kind) {
    case "waiting":
    case "failed":
      return inputs;
    case "skipped":
      return skipped;
    case "ready":
      return progressOfReady(node, given, inputs.inputs, before.partialSourceOf(node.id));
  }
}

const errors = new WeakMap<NodeProgress, NodeOutputs>();

/** Returns the outputs of a failure: the same object for the same one. */
function errorOf(failed: Extract<NodeProgress, { kind: "failed" }>): NodeOutputs {
  const outputs = errors.get(failed) ?? errorOutputs(failed.problem);
  errors.set(failed, outputs);
  return outputs;
}

/** Returns why the answer is not accepted. Undefined: it is, or there is none yet. */
function refusedAnswer({ calls }: Frame): string | undefined {
  const refused = calls.find(
    ({ call, result }) => call.name === finishSubtaskName && result?.isError === true,
  );
  return refused && `the answer of the workflow is not accepted: ${refused.result?.content}`;
}

function cycleOf({ graph }: WorkflowPlan): string {
  return `the nodes ${graph.cyclic.join(", ")} wait for each other`;
}
