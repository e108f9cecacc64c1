import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent, RunPrepared, SubtaskChanged } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { parallelSubtasksName } from "@reeve/agent/tools/runtime-tools";
import { plannerId } from "../../src/domain/state/frame.ts";
import { jobsOf } from "../../src/domain/subtasks/jobs-of.ts";

/** A tool call as recorded in the log. */
interface SeenCall {
  readonly frame: string;
  readonly name: string;
  approval: ApprovalState | undefined;
  isStarted: boolean;
  /** Whether its turn is in the log. */
  isOfTurn: boolean;
  hasResult: boolean;
  openSubtasks: number;
  /** The number of jobs of the call that have not started. */
  jobs: number;
}

/** The rules about calls and subtasks: their order, what may be in progress at the same time, and what a budget allows. */
export class CallOrder {
  readonly #break: (event: RunEvent, what: string) => void;
  readonly #calls = new Map<string, SeenCall>();
  /** Whether each subtask is in progress, by id. */
  readonly #subtasks = new Map<string, boolean>();
  #tools: ReadonlyMap<string, ToolDescriptor> = new Map();
  #limits = { parallel: 8, subtasks: 32, depth: 3, llmCalls: 60, toolCalls: 200 };
  #llmCalls = 0;

  constructor(broken: (event: RunEvent, what: string) => void) {
    this.#break = broken;
  }

  see(envelope: RunEvent): void {
    const { event, parentId, phase } = envelope;
    if (parentId !== "" && this.#subtasks.get(parentId) !== true) {
      this.#break(envelope, `is in the subtask ${parentId}, which is not in progress`);
    }
    switch (event.case) {
      case "runPrepared":
        this.#seePrepared(event.value);
        break;
      case "modelCallStarted":
        if (++this.#llmCalls > this.#limits.llmCalls) this.#break(envelope, "is beyond the budget");
        break;
      case "toolCall": {
        const { callId, name, nodeId } = event.value;
        if (this.#calls.has(callId)) this.#break(envelope, "is made twice");
        this.#calls.set(callId, {
          frame: phase === Phase.PLANNER ? plannerId : parentId,
          name,
          approval: undefined,
          isStarted: false,
          // The calls of a workflow have no turn.
          isOfTurn: nodeId !== "",
          hasResult: false,
          openSubtasks: 0,
          jobs: jobsOf(event.value).length,
        });
        break;
      }
      case "modelTurn":
        for (const callId of event.value.callIds) {
          const call = this.#calls.get(callId);
          if (call === undefined) this.#break(envelope, `has the unknown call ${callId}`);
          else call.isOfTurn = true;
        }
        break;
      case "toolCallStarted":
        this.#seeStarted(envelope, event.value.callId);
        break;
      case "approval":
        // A question is asked while its call is in progress.
        if (event.value.approval?.question && !isAgentQuestion(event.value.approval)) break;
        // A vote, or advice.
        if (isChanged(event.value.approval)) break;
        this.#seeApproval(
          envelope,
          event.value.approval?.call?.callId,
          event.value.approval?.state,
        );
        break;
      case "subtask":
        this.#seeSubtask(envelope, event.value);
        break;
      case "toolResult":
        this.#seeResult(envelope, event.value.result?.callId, event.value.success);
        break;
      default:
      // No other event concerns calls.
    }
  }

  #seePrepared({ tools: own, delegates, limits }: RunPrepared): void {
    const tools = [...own, ...delegates.flatMap((delegate) => delegate.tools)];
    const budgets = limits?.budgets;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#limits = {
      parallel: budgets?.maxParallel ?? 8,
      subtasks: budgets?.maxSubtasks ?? 32,
      depth: budgets?.maxDepth ?? 3,
      llmCalls: budgets?.maxLlmCalls ?? 60,
      toolCalls: budgets?.maxToolCalls ?? 200,
    };
  }

  seeEndOfStep(envelope: RunEvent): void {
    for (const [callId, call] of this.#calls) {
      if (call.frame === envelope.parentId && call.isOfTurn && !call.hasResult) {
        this.#break(envelope, `ends without a result of ${callId}`);
      }
    }
  }

  #seeStarted(envelope: RunEvent, callId: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isStarted || call.hasResult || !call.isOfTurn) {
      this.#break(envelope, `starts ${callId} out of turn`);
      return;
    }
    if (call.approval !== undefined && call.approval !== ApprovalState.APPROVED) {
      this.#break(envelope, `starts ${callId}, which was not approved`);
    }
    const tool = this.#tools.get(call.name);
    if (tool === undefined) this.#break(envelope, `starts the unknown tool ${call.name}`);
    const underWay = [...this.#calls.values()].filter(
      ({ isStarted, hasResult }) => isStarted && !hasResult,
    );
    if (underWay.length >= this.#limits.parallel) this.#break(envelope, "is above the cap");
    if (this.#calls.size > this.#limits.toolCalls) this.#break(envelope, "is beyond the budget");
    for (const other of underWay) {
      const rival = this.#tools.get(other.name);
      if (!isSerial(tool) || !isSerial(rival)) continue;
      if (other.frame === call.frame || rival?.exclusiveLock === tool?.exclusiveLock) {
        this.#break(envelope, "runs beside another call that runs alone");
      }
    }
    call.isStarted = true;
  }

  #seeApproval(envelope: RunEvent, callId: string | undefined, state: ApprovalState | undefined) {
    const call = this.#calls.get(callId ?? "");
    const isRequest = state === ApprovalState.PENDING;
    if (call === undefined || call.isStarted || (call.approval === undefined) !== isRequest) {
      this.#break(envelope, `of ${callId} is out of turn`);
    } else call.approval = state;
  }

  #seeSubtask(
    envelope: RunEvent,
    { subtaskId, callId, ended, isError, error }: SubtaskChanged,
  ): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.hasResult || !call.isOfTurn) {
      this.#break(envelope, `belongs to no open call ${callId}`);
      return;
    }
    if (this.#subtasks.get(subtaskId) !== (ended ? true : undefined)) {
      this.#break(envelope, `of ${subtaskId} is out of turn`);
    }
    if (ended && isError !== (error !== "")) this.#break(envelope, "does not say why it failed");
    this.#subtasks.set(subtaskId, !ended);
    call.openSubtasks += ended ? -1 : 1;
    if (!ended) call.jobs--;
    if (this.#subtasks.size > this.#limits.subtasks) this.#break(envelope, "is beyond the budget");
    if (!ended && envelope.depth >= this.#limits.depth) this.#break(envelope, "is too deep");
  }

  #seeResult(envelope: RunEvent, callId: string | undefined, success: boolean): void {
    const call = this.#calls.get(callId ?? "");
    if (call === undefined || call.hasResult) {
      this.#break(envelope, `of ${callId} has no open call`);
      return;
    }
    const isLate = success && call.name === parallelSubtasksName && call.jobs > 0;
    if (call.openSubtasks > 0 || isLate) {
      this.#break(envelope, "comes before the end of its subtasks");
    }
    if (success && call.approval !== undefined && call.approval !== ApprovalState.APPROVED) {
      this.#break(envelope, `of ${callId}, which was not approved`);
    }
    call.hasResult = true;
  }
}

function isChanged(approval: Approval | undefined): boolean {
  return approval?.state === ApprovalState.PENDING && approval.revision > 0;
}

function isSerial(tool: ToolDescriptor | undefined): boolean {
  return tool !== undefined && (tool.parallelSafe === false || tool.exclusiveLock !== "");
}
