import type { RunEvent } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead, foldHead, pendingApprovals } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Actor } from "./scheduler.ts";

/** What is known of a worker at this moment. */
export interface Ownership {
  /** Whether the worker lives and has the message by which it claimed the run. */
  isLiveOwner(worker: string, dispatchSequence: number | undefined): boolean;
  /** Whether anything befell this world that excuses a claim without a cause. */
  readonly hadFaults: boolean;
}

/** What holds in every world, and what was broken of it. */
export class Rules {
  readonly wrong: string[] = [];
  head: RunHead = emptyHead;
  /** Facts whose writer was told that they stand. */
  readonly promised: ((head: RunHead) => string | undefined)[] = [];
  readonly #begun = new Map<string, number>();
  readonly #finished = new Set<string>();
  readonly #ownership: Ownership;

  constructor(ownership: Ownership) {
    this.#ownership = ownership;
  }

  /** A worker or somebody from outside has appended to the log of the run. */
  appended(actor: Actor, events: readonly RunEvent[]): void {
    const before = this.head;
    for (const [index, { sequence }] of events.entries()) {
      if (sequence !== before.lastSequence + 1 + index) {
        this.wrong.push(`after ${before.lastSequence + index} comes ${sequence}`);
      }
    }
    if (isTerminal(before.status)) this.wrong.push(`${actor.name} writes after the end`);
    const ends = events.filter(
      ({ event }) => event.case === "status" && isTerminal(event.value.status),
    );
    if (ends.length > 1) this.wrong.push("the run ends twice");
    this.#checkWriter(actor, events);
    this.head = foldHead(before, events);
  }

  /** A call begins to be executed. */
  begins(host: string, callId: string, isIdempotent: boolean): void {
    const count = (this.#begun.get(callId) ?? 0) + 1;
    this.#begun.set(callId, count);
    if (this.#finished.has(callId)) this.wrong.push(`${host} executes a call that has finished`);
    if (count > 1 && !isIdempotent) this.wrong.push(`${host} executes a call again`);
    if (count > 1 && !this.#ownership.hadFaults) this.wrong.push(`${host} executes a call twice`);
  }

  journalled(callId: string, facts: readonly ToolCallFact[]): void {
    if (facts.length === 0) return;
    if (this.#finished.has(callId)) this.wrong.push("a journal goes on after its end");
    if (facts.some(isLast)) this.#finished.add(callId);
  }

  /** What is wrong when nobody moves any more and everything that repairs has had its turn. */
  atTheEnd(): readonly string[] {
    const { head, wrong } = this;
    const waits =
      head.parkedAt !== undefined &&
      head.parkedAt === head.lastSequence &&
      pendingApprovals(head).length > 0;
    if (!isTerminal(head.status) && !waits) wrong.push("the run is forgotten");
    for (const isKept of this.promised) {
      const broken = isKept(head);
      if (broken !== undefined) wrong.push(broken);
    }
    return wrong;
  }

  #checkWriter(actor: Actor, [first]: readonly RunEvent[]): void {
    const { claim, parkedAt, lastSequence } = this.head;
    if (first?.event.case === "runClaimed") {
      if (parkedAt === lastSequence && !this.#ownership.hadFaults) {
        this.wrong.push(`${actor.name} claims a run for which nothing came`);
      }
      if (claim === undefined || parkedAt !== undefined || claim.worker === actor.name) return;
      const { dispatchSequence, attempt } = first.event.value;
      // Delivered again, the message of an owner belongs to somebody else.
      if (dispatchSequence === claim.dispatchSequence && attempt > claim.attempt) return;
      const held = claim.dispatchSequence === 0n ? undefined : Number(claim.dispatchSequence);
      if (this.#ownership.isLiveOwner(claim.worker, held)) {
        this.wrong.push(`${actor.name} takes the run from ${claim.worker}, who lives and has it`);
      }
      return;
    }
    if (!actor.name.startsWith("worker")) return;
    if (claim?.worker !== actor.name) this.wrong.push(`${actor.name} writes to a run that it lost`);
  }
}

function isLast({ fact: { case: kind } }: ToolCallFact): boolean {
  return kind === "result" || kind === "cancelled";
}
