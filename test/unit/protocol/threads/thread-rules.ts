import type { RunEvent } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { isTerminal } from "@reeve/run/head/run-status";

interface OpenTurn {
  readonly runId: string;
  isStarted: boolean;
}

/** The rules of a thread that hold in every world, and their violations. */
export class ThreadRules {
  readonly violations: string[] = [];
  /** The runs whose start was confirmed to their clients. */
  readonly #accepted = new Set<string>();
  readonly #known = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #hadFaults: () => boolean;
  #open: OpenTurn[] = [];

  /** `hadFaults`: whether a fault occurred, after which a turn may stay open until the thread is repaired. */
  constructor(hadFaults: () => boolean) {
    this.#hadFaults = hadFaults;
  }

  /** Whether the turn of a run is open. */
  isOpen(runId: string): boolean {
    return this.#open.some((turn) => turn.runId === runId);
  }

  hasEnded(runId: string): boolean {
    return this.#ended.has(runId);
  }

  /** Checks an append to the log of the thread. */
  threadAppended(events: readonly ThreadEvent[]): void {
    for (const { event } of events) {
      switch (event.case) {
        case "turnQueued":
          this.#queue(event.value.runId);
          break;
        case "turnStarted":
          this.#start(event.value.runId);
          break;
        case "turnEnded":
          this.#end(event.value.runId);
          break;
        case "threadDeleted":
        case undefined:
          break;
      }
    }
  }

  /** Checks an append to the log of a run. */
  runAppended(writer: string, runId: string, events: readonly RunEvent[]): void {
    if (this.#ended.has(runId)) this.violations.push(`${writer} writes to ${runId} after its end`);
    for (const { event } of events) {
      const isStarted = this.#open.some((turn) => turn.runId === runId && turn.isStarted);
      if (event.case === "runClaimed" && !isStarted)
        this.violations.push(`${writer} works on ${runId} outside of its turn`);
      if (event.case === "status" && isTerminal(event.value.status)) this.#ended.add(runId);
    }
  }

  /** A client has received the confirmation that its run was accepted, and perhaps that it replaces the runs before it. */
  accepted(runId: string, interrupts: boolean): void {
    this.#accepted.add(runId);
    const place = this.#open.findIndex((turn) => turn.runId === runId);
    const replaced =
      interrupts && !this.#hadFaults() ? this.#open.slice(0, Math.max(0, place)) : [];
    for (const turn of replaced)
      this.violations.push(`the turn of ${turn.runId} stays open beside ${runId}`);
  }

  /** A client has received the confirmation that its run was cancelled. */
  cancelled(runId: string): void {
    if (this.isOpen(runId) && !this.#hadFaults())
      this.violations.push(`the turn of the cancelled ${runId} stays open`);
  }

  /** Returns the violations in a world in which no actor can act and all repairs have run. */
  atTheEnd(): readonly string[] {
    for (const { runId } of this.#open) this.violations.push(`the turn of ${runId} never ends`);
    for (const runId of this.#accepted)
      if (!this.#ended.has(runId)) this.violations.push(`the accepted ${runId} is forgotten`);
    return this.violations;
  }

  #queue(runId: string): void {
    if (this.#known.has(runId)) this.violations.push(`${runId} gets two turns`);
    this.#known.add(runId);
    this.#open.push({ runId, isStarted: false });
  }

  #start(runId: string): void {
    const active = this.#open.find(({ isStarted }) => isStarted);
    if (active !== undefined)
      this.violations.push(`the turn of ${runId} starts during that of ${active.runId}`);
    const [first] = this.#open;
    if (first?.runId !== runId)
      this.violations.push(
        `the turn of ${runId} starts before that of ${first?.runId ?? "nobody"}`,
      );
    for (const turn of this.#open) turn.isStarted ||= turn.runId === runId;
  }

  #end(runId: string): void {
    if (!this.isOpen(runId)) this.violations.push(`the turn of ${runId} ends twice`);
    if (!this.#ended.has(runId)) this.violations.push(`the turn of ${runId} ends before its run`);
    this.#open = this.#open.filter((turn) => turn.runId !== runId);
  }
}
