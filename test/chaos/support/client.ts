import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { ApprovalState } from "@reeve/contracts/approval";
import { OnBusy } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import type { Connection } from "@reeve/client";
import type { Random } from "./random.ts";
import type { RunPlan } from "./run-plan.ts";
import { effectsOf } from "./run-plan.ts";
import { tagOf } from "./worker-agent.ts";

/** Timeouts after which a client asks another gateway: for an answer, and for a silent stream. */
const answerMs = 8_000;
const streamIdleMs = 30_000;
/** The factor of a client's patience for runs that wait for a thread's turn. */
const threadTimeoutFactor = 4;

/** The outcome of a cancellation: not requested, or the run is cancelled, or it had already ended. */
export type CancelAnswer = "none" | "cancelled" | "ended";

/** A run as its client saw it. */
export interface Seen {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  readonly cancel: CancelAnswer;
  /** How often its stream broke or the client left it. */
  readonly interruptions: number;
  /** The longest time without events, in milliseconds. */
  readonly longestPauseMs: number;
  /** The longest time without events during which the store answered, in milliseconds. */
  readonly longestPauseWithStoreMs: number;
  /** Whether the client gave up because the run had no new events. */
  readonly isGivenUp: boolean;
  /** Errors that a client must never see. */
  readonly errors: readonly string[];
}

interface ClientOptions {
  /** How long a run may have no new events before the client gives up. */
  readonly patienceMs: number;
  /** The milliseconds during which the store has answered so far. */
  storeNow(): number;
}

/** A client of several gateways. Repeats a request at any gateway until it gets an answer. */
export class Client {
  readonly #gateways: readonly Connection[];
  readonly #random: Random;
  readonly #options: ClientOptions;
  readonly #errors: string[] = [];
  readonly #events: RunEvent[] = [];
  #interruptions = 0;
  #longestPauseMs = 0;
  #longestPauseWithStoreMs = 0;
  #cancel: CancelAnswer = "none";

  constructor(gateways: readonly Connection[], random: Random, options: ClientOptions) {
    this.#gateways = gateways;
    this.#random = random;
    this.#options = options;
  }

  /** Starts the run of a plan and acts as planned, until the run ends or has no new events for too long. */
  async carryOut(plan: RunPlan, requestId: string): Promise<Seen> {
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const idle = setTimeout(
      () => givenUp.abort(new DOMException("the run has no new events", "TimeoutError")),
      this.#options.patienceMs * (plan.thread === undefined ? 1 : threadTimeoutFactor),
    );
    try {
      return await this.#carryOut(plan, requestId, {
        signal,
        onProgress: () => idle.refresh(),
      });
    } finally {
      clearTimeout(idle);
    }
  }

  async #carryOut(
    plan: RunPlan,
    requestId: string,
    { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: () => void },
  ): Promise<Seen> {
    const { run } = await this.#ask(
      (reeve, options) =>
        reeve.runs.startRun(
          {
            agentId: "worker",
            input: plan.input,
            requestId,
            ...(plan.thread !== undefined && { threadId: plan.thread, onBusy: OnBusy.QUEUE }),
          },
          options,
        ),
      signal,
    );
    const runId = run?.runId ?? "";
    const ended = new AbortController();
    const bounded = AbortSignal.any([signal, ended.signal]);
    const others: Promise<void>[] = [];
    if (plan.cancelAfterMs !== undefined) {
      others.push(this.#cancelAfter(plan.cancelAfterMs, runId, bounded));
    }
    try {
      await this.#watch(plan, runId, signal, (event) => {
        onProgress();
        if (event.event.case !== "approval") return;
        const { approval } = event.event.value;
        if (approval?.state !== ApprovalState.PENDING) return;
        const tag = tagOf(approval.call?.arguments ?? {});
        others.push(this.#decide(plan, tag, approval.approvalId, bounded));
      });
    } catch (error) {
      if (!signal.aborted) this.#errors.push(`client error: ${String(error)}`);
    }
    ended.abort(new DOMException("the run has ended", "AbortError"));
    await Promise.all(others);
    return {
      runId,
      events: this.#events,
      cancel: this.#cancel,
      interruptions: this.#interruptions,
      longestPauseMs: this.#longestPauseMs,
      longestPauseWithStoreMs: this.#longestPauseWithStoreMs,
      isGivenUp: signal.aborted,
      errors: this.#errors,
    };
  }

  #now() {
    return { wallMs: performance.now(), storeMs: this.#options.storeNow() };
  }

  /** Counts the pause that ends now, and returns the time. */
  #pausedSince({ wallMs, storeMs }: { readonly wallMs: number; readonly storeMs: number }) {
    const now = this.#now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, now.wallMs - wallMs);
    const withStoreMs = now.storeMs - storeMs;
    this.#longestPauseWithStoreMs = Math.max(this.#longestPauseWithStoreMs, withStoreMs);
    return now;
  }

  /** Watches all events of a run to its end. Resumes after interruptions. */
  async #watch(
    { leaveProbability }: RunPlan,
    runId: string,
    signal: AbortSignal,
    onEvent: (event: RunEvent) => void,
  ): Promise<void> {
    let last = this.#now();
    for (;;) {
      signal.throwIfAborted();
      const silent = new AbortController();
      let timer = setTimeout(() => silent.abort(), streamIdleMs);
      try {
        const stream = this.#random.pick(this.#gateways).runs.watchRun(
          {
            runId,
            afterSequence: this.#events.at(-1)?.sequence ?? 0,
            selection: { case: "families", value: { families } },
          },
          { signal: AbortSignal.any([signal, silent.signal]) },
        );
        let isLeft = false;
        for await (const { events } of stream) {
          clearTimeout(timer);
          timer = setTimeout(() => silent.abort(), streamIdleMs);
          if (events.length > 0) {
            last = this.#pausedSince(last);
          }
          this.#events.push(...events);
          for (const event of events) onEvent(event);
          isLeft = this.#random.chance(leaveProbability);
          if (isLeft) break;
        }
        if (!isLeft) return;
      } catch (error) {
        signal.throwIfAborted();
        if (!silent.signal.aborted) this.#checkError(error, "WatchRun");
        await wait(this.#random.between(20, 200), undefined, { signal });
      } finally {
        clearTimeout(timer);
      }
      this.#interruptions++;
    }
  }

  async #cancelAfter(delayMs: number, runId: string, signal: AbortSignal): Promise<void> {
    try {
      await wait(delayMs, undefined, { signal });
      await this.#ask((reeve, options) => reeve.runs.cancelRun({ runId }, options), signal);
      this.#cancel = "cancelled";
    } catch (error) {
      if (signal.aborted) return;
      if (ConnectError.from(error).code === Code.FailedPrecondition) this.#cancel = "ended";
      else this.#errors.push(`CancelRun failed: ${String(error)}`);
    }
  }

  async #decide(
    plan: RunPlan,
    tag: string,
    approvalId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const effect = effectsOf(plan).find((planned) => planned.tag === tag);
    const decision = {
      approvalId,
      approved: effect?.approved ?? false,
      decisionId: `once-${approvalId}`,
    };
    try {
      await wait(effect?.decidedAfterMs ?? 0, undefined, { signal });
      await this.#ask(
        (reeve, options) => reeve.approvals.decideApproval(decision, options),
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      // The run was cancelled in the meantime.
      const isClosed = ConnectError.from(error).code === Code.FailedPrecondition;
      if (!isClosed || plan.cancelAfterMs === undefined) {
        this.#errors.push(`DecideApproval failed: ${String(error)}`);
      }
    }
  }

  /** Returns the answer of any gateway. Rejects if a gateway refuses the request. */
  async #ask<Answer>(
    question: (
      reeve: Connection,
      options: { signal: AbortSignal; timeoutMs: number },
    ) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await question(this.#random.pick(this.#gateways), { signal, timeoutMs: answerMs });
      } catch (error) {
        signal.throwIfAborted();
        if (!isConnectionError(error)) throw error;
        await wait(this.#random.between(20, 200), undefined, { signal });
      }
    }
  }

  #checkError(error: unknown, asked: string): void {
    if (!isConnectionError(error)) this.#errors.push(`${asked} failed: ${String(error)}`);
  }
}

const families = Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED);

const connectionCodes: ReadonlySet<Code> = new Set([
  Code.Aborted,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Internal,
]);

/** Returns whether the server is unavailable or the connection broke. Errors from the server itself have details. */
function isConnectionError(error: unknown): boolean {
  const status = ConnectError.from(error);
  if (status.code === Code.Unavailable) return true;
  return connectionCodes.has(status.code) && status.details.length === 0;
}
