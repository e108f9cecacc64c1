import type { RunEvent } from "@reeve/contracts/run";
import { ModelCallPurpose, Phase, RunStatus, StepState } from "@reeve/contracts/run";
import { expect } from "vitest";
import { plannerId, rootId } from "../../src/domain/state/frame.ts";
import { CallOrder } from "./random-calls.ts";

/** Expects a history that follows all rules about the order of events and, if `isComplete`, has an end. */
export function expectOrder(events: readonly RunEvent[], isComplete = true): void {
  expect(orderViolations(events, isComplete)).toEqual([]);
}

/** Returns the violations of the rules about the order of events. */
export function orderViolations(events: readonly RunEvent[], isComplete = true): readonly string[] {
  const order = new Order();
  for (const event of events) order.see(event);
  return order.violations(isComplete);
}

/** Returns the id of the frame of an event. */
function frameIdOf({ phase, parentId }: RunEvent): string {
  return phase === Phase.PLANNER ? plannerId : parentId;
}

/** An attempt of a model call. */
interface Attempt {
  readonly number: number;
  readonly purpose: ModelCallPurpose;
  isOpen: boolean;
  hasUsage: boolean;
  /** Sequence of its first text or reasoning that is not voided. */
  streamedFrom: number | undefined;
}

interface Loop {
  step: number;
  isOpen: boolean;
  attempt: Attempt | undefined;
}

/** The events that have to be in an open step of their frame. */
const ofSteps: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "textVoided",
  "usage",
  "toolCall",
  "toolCallStarted",
  "mcpProgress",
  "toolResult",
  "context",
  "messageInjected",
  "modelCallStarted",
  "modelTurn",
  "modelCallFailed",
  "modelRetryDue",
  "memoryWritten",
  "todosChanged",
  "subtask",
]);

/** The events that may follow each event of the end of a run. */
const afterEnd: Readonly<Record<string, readonly string[]>> = {
  budgetExceeded: ["error"],
  // The end of a run cancels its generations.
  error: ["costSummary", "mediaCallEnded"],
  costSummary: ["treeStored"],
  treeStored: ["status"],
};

class Order {
  readonly #broken: string[] = [];
  readonly #loops = new Map<string, Loop>();
  readonly #calls = new CallOrder((event, what) => this.#break(event, what));
  readonly #inbox: string[] = [];
  #sequence = 0;
  #previous: RunEvent | undefined;
  #isStarting = false;
  #isPlanned = false;
  #end: RunStatus | undefined;

  see(envelope: RunEvent): void {
    const { event, sequence } = envelope;
    const kind = event.case ?? "unknown";
    if (sequence !== ++this.#sequence) this.#break(envelope, `comes after ${this.#sequence - 1}`);
    if (this.#end !== undefined) this.#break(envelope, "follows the end");
    this.#seeEnding(envelope, kind);
    if (ofSteps.has(kind)) this.#seePlace(envelope);
    this.#seeLoop(envelope);
    this.#seeRun(envelope);
    this.#calls.see(envelope);
    // A claim may be anywhere: the new owner continues at the end of the log.
    if (kind !== "runClaimed") this.#previous = envelope;
  }

  violations(isComplete: boolean): readonly string[] {
    if (!isComplete || this.#end !== undefined) return this.#broken;
    return [...this.#broken, "the history has no end"];
  }

  #seeEnding(envelope: RunEvent, kind: string): void {
    const before = this.#previous;
    const isOfPlanner = before?.event.case === "error" && before.phase === Phase.PLANNER;
    const wanted = isOfPlanner ? undefined : afterEnd[before?.event.case ?? ""];
    if (wanted !== undefined && !wanted.includes(kind) && kind !== "runClaimed") {
      this.#break(envelope, `follows ${before?.event.case}`);
    }
  }

  #seeRun(envelope: RunEvent): void {
    const { event } = envelope;
    switch (event.case) {
      case "status":
        this.#seeStatus(envelope, event.value.status);
        break;
      case "plan":
        if (this.#isPlanned) this.#break(envelope, "is a second plan");
        this.#isPlanned = true;
        break;
      case "messageSubmitted":
        this.#inbox.push(event.value.messageId);
        break;
      case "messageInjected":
        if (this.#inbox.shift() !== event.value.messageId) this.#break(envelope, "is out of turn");
        break;
      default:
      // No other event concerns the run as a whole.
    }
  }

  #seeStatus(envelope: RunEvent, status: RunStatus): void {
    if (status === RunStatus.STARTING) {
      if (this.#loops.size > 0) this.#break(envelope, "comes after a step");
      this.#isStarting = true;
      return;
    }
    this.#end = status;
    if (this.#previous?.event.case !== "treeStored") this.#break(envelope, "has no tree before it");
    if (status === RunStatus.COMPLETED && this.#inbox.length > 0) {
      this.#break(envelope, "leaves a message that was not injected");
    }
  }

  /** The event has to be in the open step of its frame. The planner has no steps. */
  #seePlace(envelope: RunEvent): void {
    if (!this.#isStarting) this.#break(envelope, "comes before the run starts");
    if (envelope.phase === Phase.PLANNER) {
      if (this.#loops.has(rootId)) this.#break(envelope, "comes after the first step");
      if (envelope.stepNumber !== 0) this.#break(envelope, "has a step in the planner");
      return;
    }
    const loop = this.#loops.get(envelope.parentId);
    if (loop?.isOpen !== true || loop.step !== envelope.stepNumber) {
      this.#break(
        envelope,
        `is in step ${envelope.stepNumber} of "${envelope.parentId}", not open`,
      );
    }
  }

  #seeLoop(envelope: RunEvent): void {
    const { event, sequence, stepNumber } = envelope;
    const id = frameIdOf(envelope);
    const loop = this.#loops.get(id) ?? { step: 0, isOpen: false, attempt: undefined };
    const { attempt } = loop;
    switch (event.case) {
      case "step":
        this.#seeStep(envelope, loop, event.value.state);
        this.#loops.set(id, loop);
        break;
      case "modelCallStarted": {
        this.#seeStart(envelope, loop, event.value.attempt, event.value.purpose);
        this.#loops.set(id, loop);
        break;
      }
      case "text":
      case "reasoning":
        if (attempt?.purpose === ModelCallPurpose.ANSWER && attempt.hasUsage) {
          this.#break(envelope, "comes after the usage of its attempt");
        }
        if (attempt?.isOpen === true) attempt.streamedFrom ??= sequence;
        break;
      case "textVoided":
        if (attempt?.streamedFrom !== event.value.firstSequence) {
          this.#break(envelope, `voids from ${event.value.firstSequence}`);
        }
        if (attempt !== undefined) attempt.streamedFrom = undefined;
        break;
      case "usage":
        if (attempt?.isOpen !== true) this.#break(envelope, "belongs to no attempt");
        else attempt.hasUsage = true;
        break;
      case "toolCall":
      case "modelTurn":
        if (event.case === "toolCall" && event.value.nodeId !== "") break;
        if (attempt?.isOpen !== true || !attempt.hasUsage) {
          this.#break(envelope, "comes before the usage");
        } else if (event.case === "modelTurn") attempt.isOpen = false;
        break;
      case "modelCallFailed":
      case "context":
        if (attempt !== undefined) attempt.isOpen = false;
        break;
      case "subtask":
        if (event.value.ended && this.#loops.get(event.value.subtaskId)?.isOpen !== false) {
          this.#break(envelope, "ends within a step");
        }
        break;
      case "runClaimed":
        for (const each of this.#loops.values()) if (each.attempt) each.attempt.isOpen = false;
        break;
      default:
        if (stepNumber > loop.step) this.#break(envelope, "is ahead of its step");
    }
  }

  #seeStep(envelope: RunEvent, loop: Loop, state: StepState): void {
    const { stepNumber } = envelope;
    if (state === StepState.STARTED) {
      if (loop.isOpen || stepNumber !== loop.step + 1) this.#break(envelope, "is out of turn");
      Object.assign(loop, { step: stepNumber, isOpen: true, attempt: undefined });
      return;
    }
    if (!loop.isOpen || stepNumber !== loop.step) this.#break(envelope, "ends no open step");
    loop.isOpen = false;
    this.#calls.seeEndOfStep(envelope);
  }

  #seeStart(envelope: RunEvent, loop: Loop, number: number, purpose: ModelCallPurpose): void {
    const before = loop.attempt;
    if (before?.isOpen === true) this.#break(envelope, "starts beside another attempt");
    if (before?.isOpen === false && before.streamedFrom !== undefined && number > 1) {
      this.#break(envelope, "does not void the text of the attempt before");
    }
    const isAgain = before?.purpose === purpose && number > 1;
    if (number !== (isAgain ? before.number + 1 : 1)) this.#break(envelope, "miscounts attempts");
    loop.attempt = { number, purpose, isOpen: true, hasUsage: false, streamedFrom: undefined };
  }

  #break({ event, sequence }: RunEvent, what: string): void {
    this.#broken.push(`${sequence} ${event.case}: ${what}`);
  }
}
