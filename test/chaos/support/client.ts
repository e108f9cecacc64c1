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

/** How long an answer may take, and how long a stream may be silent, before a client asks elsewhere. */
const answerMs = 8_000;
const silenceMs = 30_000;
/** How long nothing may happen to a run before it is given up, and how much longer to one that waits for its turn. */
const patienceMs = 90_000;
const patienceInThread = 4;

/** What became of a cancellation: nobody asked, the run is cancelled, or it had ended before. */
export type CancelAnswer = "none" | "cancelled" | "ended";

/** A run as its client saw it. */
export interface Seen {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  readonly cancel: CancelAnswer;
  /** How often its stream broke or was left. */
  readonly interruptions: number;
  /** The longest that nothing came, in milliseconds. */
  readonly longestPauseMs: number;
  /** Whether nothing happened to it for so long that its client gave it up. */
  readonly isGivenUp: boolean;
  /** What a client should never be told. */
  readonly wrong: readonly string[];
}

/** A patient client of several gateways: asks again, anywhere, whenever it gets no answer. */
export class Client {
  readonly #gateways: readonly Connection[];
  readonly #random: Random;
  readonly #wrong: string[] = [];
  readonly #events: RunEvent[] = [];
  #interruptions = 0;
  #longestPauseMs = 0;
  #cancel: CancelAnswer = "none";

  constructor(gateways: readonly Connection[], random: Random) {
    this.#gateways = gateways;
    this.#random = random;
  }

  /** Starts the run of a plan and does what the plan says of its client, until the run ends or nothing happens any more. */
  async carryOut(plan: RunPlan, requestId: string): Promise<Seen> {
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const patience = setTimeout(
      () => givenUp.abort(new DOMException("nothing happens any more", "TimeoutError")),
      plan.thread === undefined ? patienceMs : patienceMs * patienceInThread,
    );
    try {
      return await this.#carryOut(plan, requestId, {
        signal,
        onProgress: () => patience.refresh(),
      });
    } finally {
      clearTimeout(patience);
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
      if (!signal.aborted) this.#wrong.push(`its client failed: ${String(error)}`);
    }
    ended.abort(new DOMException("the run has ended", "AbortError"));
    await Promise.all(others);
    return {
      runId,
      events: this.#events,
      cancel: this.#cancel,
      interruptions: this.#interruptions,
      longestPauseMs: this.#longestPauseMs,
      isGivenUp: signal.aborted,
      wrong: this.#wrong,
    };
  }

  /** Everything in the log of a run to its end; again from where it was cut off. */
  async #watch(
    { restlessness }: RunPlan,
    runId: string,
    signal: AbortSignal,
    onEvent: (event: RunEvent) => void,
  ): Promise<void> {
    let lastMs = performance.now();
    for (;;) {
      signal.throwIfAborted();
      const silent = new AbortController();
      let silence = setTimeout(() => silent.abort(), silenceMs);
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
          clearTimeout(silence);
          silence = setTimeout(() => silent.abort(), silenceMs);
          if (events.length > 0) {
            this.#longestPauseMs = Math.max(this.#longestPauseMs, performance.now() - lastMs);
            lastMs = performance.now();
          }
          this.#events.push(...events);
          for (const event of events) onEvent(event);
          isLeft = this.#random.chance(restlessness);
          if (isLeft) break;
        }
        if (!isLeft) return;
      } catch (error) {
        signal.throwIfAborted();
        if (!silent.signal.aborted) this.#judge(error, "WatchRun");
        await wait(this.#random.between(20, 200), undefined, { signal });
      } finally {
        clearTimeout(silence);
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
      else this.#wrong.push(`CancelRun failed: ${String(error)}`);
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
      // The run was cancelled meanwhile.
      const isClosed = ConnectError.from(error).code === Code.FailedPrecondition;
      if (!isClosed || plan.cancelAfterMs === undefined) {
        this.#wrong.push(`DecideApproval failed: ${String(error)}`);
      }
    }
  }

  /** The answer of some gateway. Rejects with what a gateway refused. */
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
        if (!isFromTheWay(error)) throw error;
        await wait(this.#random.between(20, 200), undefined, { signal });
      }
    }
  }

  #judge(error: unknown, asked: string): void {
    if (!isFromTheWay(error)) this.#wrong.push(`${asked} failed: ${String(error)}`);
  }
}

const families = Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED);

const ofTheWay: ReadonlySet<Code> = new Set([
  Code.Aborted,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Internal,
]);

/** Whether a server is away, or the way to it broke. What a server says itself has details. */
function isFromTheWay(error: unknown): boolean {
  const status = ConnectError.from(error);
  if (status.code === Code.Unavailable) return true;
  return ofTheWay.has(status.code) && status.details.length === 0;
}
