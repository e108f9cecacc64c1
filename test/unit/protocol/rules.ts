import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { RunHead } from "@reeve/run/head/run-head";
import { approvalsOf, emptyHead, foldHead, pendingApprovals } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Play } from "./play.ts";
import type { Actor } from "./scheduler.ts";

/** The ownership of the run by one worker, at this moment. */
export interface Ownership {
  /** Whether the worker is alive and holds the message with which it claimed the run. */
  isLiveOwner(worker: string, dispatchSequence: number | undefined): boolean;
  /** Whether a toolhost is alive and executes the call. */
  isExecuting(host: string, callId: string): boolean;
  /** Whether a fault occurred in this world that justifies a claim without a new message. */
  readonly hadFaults: boolean;
}

/** How often an idempotent call may be started: a call that takes down its hosts must not take down all of them. */
const maxStarts = 3;

/** The rules that hold in every world, and their violations. */
export class Rules {
  readonly violations: string[] = [];
  head: RunHead = emptyHead;
  /** Facts whose append was acknowledged to the writer. */
  readonly promised: ((head: RunHead) => string | undefined)[] = [];
  /** Whether a client has received the confirmation of a cancellation. */
  isCancelConfirmed = false;
  readonly #begun = new Map<string, number>();
  /** The toolhost that last started each call. */
  readonly #startedBy = new Map<string, string>();
  /** How often each call was started. */
  readonly #starts = new Map<string, number>();
  /** The call that each request started. */
  readonly #callOf = new Map<number, string>();
  readonly #finished = new Set<string>();
  readonly #ownership: Ownership;

  constructor(ownership: Ownership) {
    this.#ownership = ownership;
  }

  /** Checks an append to the run's log by a worker or an external writer. */
  appended(actor: Actor, events: readonly RunEvent[]): void {
    const before = this.head;
    for (const [index, { sequence }] of events.entries()) {
      if (sequence !== before.lastSequence + 1 + index) {
        this.violations.push(`sequence ${before.lastSequence + index} is followed by ${sequence}`);
      }
    }
    if (isTerminal(before.status)) this.violations.push(`${actor.name} writes after the end`);
    const ends = events.filter(
      ({ event }) => event.case === "status" && isTerminal(event.value.status),
    );
    if (ends.length > 1) this.violations.push("the run ends twice");
    this.#checkWriter(actor, events);
    this.head = foldHead(before, events);
  }

  /** Checks the start of a call's execution. */
  begins(host: string, callId: string, { tool }: Pick<Play, "tool">): void {
    if (this.isCancelConfirmed)
      this.violations.push(`${host} executes a call after the confirmed cancellation`);
    if (tool === "approved" && !approvalsOf(this.head).some(isApproved))
      this.violations.push(`${host} executes a call that nobody approved`);
    const isIdempotent = tool === "idempotent";
    const count = (this.#begun.get(callId) ?? 0) + 1;
    this.#begun.set(callId, count);
    if (this.#finished.has(callId))
      this.violations.push(`${host} executes a call that has finished`);
    if (count > 1 && !isIdempotent) this.violations.push(`${host} executes a call again`);
    if (count > 1 && !this.#ownership.hadFaults)
      this.violations.push(`${host} executes a call twice`);
  }

  /** Checks an append to the journal of a call. */
  journalled(actor: Actor, callId: string, facts: readonly ToolCallFact[]): void {
    if (facts.length === 0) return;
    const holder = this.#startedBy.get(callId);
    const isRobbed = holder !== undefined && holder !== actor.name && facts.some(isOfHost);
    if (isRobbed && this.#ownership.isExecuting(holder, callId)) {
      this.violations.push(
        `${actor.name} takes a call from ${holder}, who is alive and executes it`,
      );
    }
    for (const { fact } of facts) {
      if (fact.case !== "started") continue;
      this.#startedBy.set(callId, actor.name);
      const starts = (this.#starts.get(callId) ?? 0) + 1;
      this.#starts.set(callId, starts);
      if (starts > maxStarts) this.violations.push(`${actor.name} starts a call ${starts} times`);
      this.#callOf.set(Number(fact.value.requestSequence), callId);
    }
    if (this.#finished.has(callId)) this.violations.push("a journal continues after its end");
    if (facts.some(isLast)) this.#finished.add(callId);
  }

  /** Checks an acknowledgement of a dispatch. It removes the message, also one that another worker holds. */
  dispatchRemoved({ name }: Actor, sequence: number): void {
    const { claim, parkedAt, status } = this.head;
    if (claim === undefined || claim.worker === name || parkedAt !== undefined) return;
    if (isTerminal(status) || Number(claim.dispatchSequence) !== sequence) return;
    if (this.#ownership.isLiveOwner(claim.worker, sequence))
      this.violations.push(`${name} removes the message of ${claim.worker}, who owns the run`);
  }

  /**
   * Checks an acknowledgement of a request by a toolhost that forwards nothing. One that does may be late: the owner of the run
   * then publishes the request again.
   */
  requestRemoved({ name }: Actor, sequence: number): void {
    const callId = this.#callOf.get(sequence) ?? "";
    const host = this.#startedBy.get(callId);
    if (host === undefined || host === name || this.#finished.has(callId)) return;
    if (this.#ownership.isExecuting(host, callId))
      this.violations.push(`${name} removes the request of ${host}, who executes the call`);
  }

  /** Returns the violations in a world in which no actor can act and all repairs have run. */
  atTheEnd(): readonly string[] {
    const { head, violations } = this;
    const waits =
      head.parkedAt !== undefined &&
      head.parkedAt === head.lastSequence &&
      pendingApprovals(head).length > 0;
    if (!isTerminal(head.status) && !waits) violations.push("the run is forgotten");
    for (const callId of this.#startedBy.keys()) {
      if (isTerminal(head.status) && !this.#finished.has(callId))
        violations.push("a call outlasts its run");
    }
    for (const isKept of this.promised) {
      const broken = isKept(head);
      if (broken !== undefined) violations.push(broken);
    }
    return violations;
  }

  #checkWriter(actor: Actor, [first]: readonly RunEvent[]): void {
    const { claim, parkedAt, lastSequence } = this.head;
    if (first?.event.case === "runClaimed") {
      if (parkedAt === lastSequence && !this.#ownership.hadFaults) {
        this.violations.push(`${actor.name} claims a run without a new message`);
      }
      const isOwned = claim !== undefined && parkedAt === undefined;
      if (isOwned && !this.#ownership.hadFaults) {
        this.violations.push(`${actor.name} claims a run again, although nothing failed`);
      }
      if (claim === undefined || parkedAt !== undefined || claim.worker === actor.name) return;
      const { dispatchSequence, attempt } = first.event.value;
      // A redelivered message of an owner belongs to another worker.
      if (dispatchSequence === claim.dispatchSequence && attempt > claim.attempt) return;
      const held = claim.dispatchSequence === 0n ? undefined : Number(claim.dispatchSequence);
      if (this.#ownership.isLiveOwner(claim.worker, held)) {
        this.violations.push(
          `${actor.name} takes the run from ${claim.worker}, who is alive and owns it`,
        );
      }
      return;
    }
    if (!actor.name.startsWith("worker")) return;
    if (claim?.worker !== actor.name)
      this.violations.push(`${actor.name} writes to a run that it lost`);
  }
}

function isApproved({ state }: Approval): boolean {
  return state === ApprovalState.APPROVED;
}

function isLast({ fact: { case: kind } }: ToolCallFact): boolean {
  return kind === "result" || kind === "cancelled";
}

/** Whether only the host that executes the call appends a fact like this. */
function isOfHost({ fact: { case: kind } }: ToolCallFact): boolean {
  return kind === "started" || kind === "result";
}
