import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { counter } from "@reeve/platform/telemetry/metrics";
import { LostEvents } from "./lost-events.ts";
import type { AuditAppender } from "./port.ts";
import { maxAppendDelayMs } from "./port.ts";

/** What happens to calls that change something while the trail cannot be written. */
export type AuditMode = "required" | "best-effort";

/** How many events wait for the trail. Each has at most about two kilobytes. */
const maxWaiting = 5_000;
/** How many of them are appended at the same time. */
const maxAppends = 64;
/** The delay between attempts to append while the trail cannot be written. */
const retryMs = 500;
/** How long a change waits for the trail if the trail is not required. */
const maxWaitMs = 1_000;
/** How long a change waits for a trail that is not open yet, from the start of the service on. */
const startMs = 5_000;
/** Interval between reports of lost events: they use the reserve of a full store, which who fails must not use up. */
const gapMs = 60_000;
/** How long a change waits for the trail if the trail is required. */
const maxRequiredWaitMs = 10_000;

const recorded = counter({
  name: "reeve_audit_events_total",
  help: "Events of the audit trail, by what became of them: stored, or lost: the trail could not be written for two minutes, or too many events waited for it.",
  labels: ["outcome"],
});

interface Waiting {
  readonly event: AuditEvent;
  readonly usesReserve: boolean;
  readonly stored: PromiseWithResolvers<void>;
}

export interface RecorderOptions {
  readonly mode: AuditMode;
  /** Wall-clock time. */
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Writes events to the audit trail. While the trail cannot be written, keeps up to 5,000 events for at most 110 seconds each, and
 * appends them when it can be written again. Events of the action `audit.gap` say how many events of each tenant were lost, once
 * a minute at most.
 */
export class AuditRecorder {
  readonly #options: RecorderOptions;
  readonly #wakeup = new Wakeup();
  readonly #lost = new LostEvents();
  #trail: AuditAppender | undefined;
  #waiting: Waiting[] = [];
  #isDown = true;
  #hasOpened = false;
  #gapReportedAtMs = -Infinity;
  readonly #startedAtMs: number;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    // So that an alert sees the first ones too.
    recorded.inc({ outcome: "lost" }, 0);
  }

  /** Throws a Failure of kind `unavailable` if the trail is required, and the last attempt to write it failed. */
  assertAvailable(): void {
    if (this.#options.mode === "required" && this.#isDown) throw unavailable();
  }

  /**
   * Records a change. Resolves when it is stored. If the trail is not required, resolves after a second at the latest; otherwise
   * rejects with a Failure of kind `unavailable` after ten seconds.
   */
  async record(event: AuditEvent): Promise<void> {
    const isRequired = this.#options.mode === "required";
    const isStarting = !this.#hasOpened && this.#options.clock.now() < this.#startedAtMs + startMs;
    const isWaitInVain = this.#isDown && !isStarting;
    // What has happened is recorded even in a full store; who fails cannot use up its reserve.
    const stored = this.#add(event, event.code === "OK");
    if (!isRequired && isWaitInVain) return;
    const waitMs = isRequired ? maxRequiredWaitMs : maxWaitMs;
    const isStored = await settledWithin(stored, waitMs, neverAborts).catch(() => false);
    if (isRequired && !isStored) throw notRecorded(event.action);
  }

  /** Records an event without waiting for it. */
  note(event: AuditEvent): void {
    void this.#add(event, false);
  }

  /** Records changes that one event stands for, without waiting for it. */
  noteChange(event: AuditEvent): void {
    void this.#add(event, event.code === "OK");
  }

  /** Appends events that had to wait, to the trail that `open` opens, until `signal` aborts. */
  async keep(open: () => Promise<AuditAppender>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const opening = (async () => (this.#trail ??= await open()))();
    while (!(await settledWithin(opening, retryMs, signal))) this.#dropOld();
    for (;;) {
      const wasDown = this.#isDown;
      while (!(await this.#recover())) await clock.sleep(retryMs, signal);
      if (wasDown && this.#hasOpened) log.info("the audit trail can be written again");
      this.#hasOpened = true;
      await this.#untilWork(signal);
    }
  }

  /** Waits until events wait, or were lost, or lost ones are due to be reported. */
  async #untilWork(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const round = new AbortController();
    const bounded = AbortSignal.any([signal, round.signal]);
    const waits = [this.#wakeup.wait(bounded)];
    if (this.#lost.entries().length > 0) waits.push(clock.sleep(this.#untilGapMs(), bounded));
    await Promise.race(waits).finally(() => round.abort());
    await Promise.allSettled(waits);
  }

  /** Returns how long lost events are not reported yet. */
  #untilGapMs(): number {
    const sinceMs = this.#options.clock.now() - this.#gapReportedAtMs;
    // A negative time: the clock went back.
    return sinceMs < 0 ? 0 : Math.max(0, gapMs - sinceMs);
  }

  #add(event: AuditEvent, usesReserve: boolean): Promise<void> {
    const waiting = { event, usesReserve, stored: Promise.withResolvers<void>() };
    // A caller need not wait for it.
    waiting.stored.promise.catch(() => undefined);
    if (this.#isDown) this.#enqueue(waiting);
    else void this.#append(waiting);
    return waiting.stored.promise;
  }

  #enqueue(waiting: Waiting): void {
    if (this.#waiting.length >= maxWaiting) this.#lose(waiting);
    else this.#waiting.push(waiting);
  }

  /** Appends an event. If the trail cannot be written, the event waits; returns false. */
  async #append(waiting: Waiting): Promise<boolean> {
    const { event, usesReserve } = waiting;
    try {
      await this.#trail?.append(event, { usesReserve });
    } catch (error) {
      if (isOfEvent(error, usesReserve)) {
        if (!(error instanceof Failure)) {
          this.#options.log.error({ err: error }, "an event of the audit trail cannot be stored");
        }
        this.#lose(waiting);
        return true;
      }
      this.#setDown(error);
      this.#enqueue(waiting);
      return false;
    }
    recorded.inc({ outcome: "stored" });
    waiting.stored.resolve();
    return true;
  }

  #setDown(error: unknown): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#options.log.error({ err: error }, "the audit trail cannot be written");
    this.#wakeup.notify();
  }

  /** Appends what waits, oldest first, and reports what was lost. Returns whether nothing is left to append. */
  async #recover(): Promise<boolean> {
    for (;;) {
      this.#dropOld();
      const batch = this.#waiting.splice(0, maxAppends);
      if (batch.length === 0) break;
      const appended = await Promise.all(batch.map((each) => this.#append(each)));
      if (appended.includes(false)) return false;
    }
    return await this.#reportLost();
  }

  async #reportLost(): Promise<boolean> {
    const lostEvents = this.#untilGapMs() > 0 ? [] : this.#lost.entries();
    for (const [tenant, lost] of lostEvents) {
      try {
        const gap = gapOf(tenant, lost, this.#options.clock.now());
        await this.#trail?.append(gap, { usesReserve: true });
      } catch {
        return false;
      }
      this.#lost.remove(tenant, lost);
      this.#gapReportedAtMs = this.#options.clock.now();
    }
    // Events may have come meanwhile.
    this.#isDown = this.#waiting.length > 0;
    return !this.#isDown;
  }

  #dropOld(): void {
    const oldestMs = this.#options.clock.now() - maxAppendDelayMs;
    const isOld = ({ event: { time } }: Waiting) =>
      time !== undefined && timestampMs(time) < oldestMs;
    const old = this.#waiting.filter(isOld);
    if (old.length === 0) return;
    this.#waiting = this.#waiting.filter((each) => !isOld(each));
    for (const each of old) this.#lose(each);
  }

  #lose({ event, stored }: Waiting): void {
    recorded.inc({ outcome: "lost" });
    this.#lost.add(event.tenant);
    stored.reject(unavailable());
    this.#wakeup.notify();
  }
}

/**
 * Whether others may be stored although an event was not: a full store has room only for what may use its reserve, and an error
 * that is no Failure is a defect.
 */
function isOfEvent(error: unknown, usesReserve: boolean): boolean {
  if (!(error instanceof Failure)) return true;
  return error.kind === "exhausted" && !usesReserve;
}

function gapOf(tenant: string, lost: number, nowMs: number): AuditEvent {
  return create(AuditEventSchema, {
    eventId: randomUUID(),
    time: timestampFromMs(nowMs),
    tenant,
    action: "audit.gap",
    code: "DATA_LOSS",
    count: 1,
    lost,
  });
}

function unavailable(): Failure {
  const message =
    "the audit trail (stream AUDIT) cannot be written, and REEVE_AUDIT=required refuses changes meanwhile; try again, and see the logs of gateway and approvals";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

function notRecorded(action: string): Failure {
  const message = `${action} has been carried out, but is not in the audit trail yet: the trail (stream AUDIT) cannot be written, and REEVE_AUDIT is required; check its effect before you repeat it`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
