import type { Worker } from "node:worker_threads";
import { PluginFailure } from "@reeve/engine/ports/plugin-host";
import { onAbort } from "@reeve/platform/async/on-abort";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { ThreadAnswer, ThreadRequest } from "./thread.ts";

/** How long a thread may take to acknowledge that a request was aborted. It is blocked if it takes longer. */
const graceMs = 1_000;

export type Question = ThreadRequest extends infer Each
  ? Each extends { readonly kind: "abort" }
    ? never
    : Omit<Each, "id">
  : never;

interface Pending {
  readonly question: Question;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: PluginFailure) => void;
  /** Starts the deadline. */
  readonly begin: () => void;
  hasBegun: boolean;
  /** Whether a thread that ended before the request began was replaced once. */
  isRepeated: boolean;
}

/**
 * A thread that answers requests, started by the first one. A request begins when the thread acknowledges it, and has its deadline from
 * then on. A thread that does not acknowledge an abort, because it is blocked, is ended: requests that have begun fail, and the others
 * go to the next thread.
 */
export class PluginThread implements AsyncDisposable {
  readonly #open: () => Worker;
  readonly #pending = new Map<number, Pending>();
  /** Timers of the aborts that the thread has not acknowledged. Undefined: the aborted request has not begun. */
  readonly #aborting = new Map<number, NodeJS.Timeout | undefined>();
  #thread: Worker | undefined;
  #hasAnswered = false;
  #lastId = 0;

  /** `open` starts a thread, and throws a PluginFailure if it cannot. */
  constructor(open: () => Worker) {
    this.#open = open;
  }

  /** Returns the answer to a request. Throws a PluginFailure if there is none within the deadline. */
  async ask(question: Question, deadlineMs: number, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const thread = this.#started();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const expire = () => this.#expire(id, deadlineMs);
    // A blocked thread is ended within the deadline of the request that blocks it.
    let timer = setTimeout(expire, deadlineMs + 2 * graceMs);
    const begin = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, deadlineMs);
    };
    const pending = { question, resolve, reject, begin, hasBegun: false, isRepeated: false };
    this.#pending.set(id, pending);
    thread.postMessage({ ...question, id }, []);
    using _ = onAbort(signal, () => {
      reject(new PluginFailure("the request was aborted", { retryable: true }));
      this.#abort(id, pending);
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = this.#open();
    thread.unref();
    thread.on("message", (answer: ThreadAnswer) => this.#take(answer));
    thread.on("error", (error) => void this.#end(thread, `its thread broke: ${error.message}`));
    thread.on("exit", () => void this.#end(thread, "its thread ended"));
    this.#thread = thread;
    this.#hasAnswered = false;
    return thread;
  }

  #take(answer: ThreadAnswer): void {
    this.#hasAnswered = true;
    const { id } = answer;
    // It may have acknowledged the request before the abort, and be blocked since.
    if (!("began" in answer)) {
      clearTimeout(this.#aborting.get(id));
      this.#aborting.delete(id);
    }
    const pending = this.#pending.get(id);
    if ("began" in answer && this.#aborting.has(id)) this.#awaitAbort(id);
    if (pending === undefined || "aborted" in answer) return;
    if ("began" in answer) {
      pending.hasBegun = true;
      pending.begin();
    } else if ("error" in answer) {
      pending.reject(failureOf(answer));
    } else pending.resolve(answer.answer);
  }

  #expire(id: number, deadlineMs: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { hasBegun, question, reject } = pending;
    const isDescription = question.kind === "describe";
    const message = hasBegun
      ? `it did not answer within ${deadlineMs / 1_000} s`
      : "its thread is busy, and did not begin the request";
    const retryable = !hasBegun || isDescription;
    reject(new PluginFailure(message, { retryable, mayHaveBegun: hasBegun }));
    this.#pending.delete(id);
    // Another request that has begun ends the thread at its own deadline.
    const isUnattended = ![...this.#pending.values()].some((each) => each.hasBegun);
    if (hasBegun) this.#abort(id, pending);
    else if (isUnattended && !(isDescription && this.#hasAnswered)) this.#block();
  }

  /**
   * Tells the thread, and ends it if the aborted request blocks it. One that has not begun waits for another request, and a description
   * is no reason to end a thread.
   */
  #abort(id: number, { question: { kind }, hasBegun }: Pending): void {
    this.#thread?.postMessage({ id, kind: "abort" }, []);
    if (kind === "describe") return;
    this.#aborting.set(id, undefined);
    if (hasBegun) this.#awaitAbort(id);
  }

  #awaitAbort(id: number): void {
    if (this.#aborting.get(id) !== undefined) return;
    const timer = setTimeout(() => this.#block(), graceMs);
    timer.unref();
    this.#aborting.set(id, timer);
  }

  #block(): void {
    if (this.#thread !== undefined) {
      void this.#end(this.#thread, "its thread was ended because another request blocked it");
    }
  }

  async #end(thread: Worker, reason: string, isFinal = false): Promise<void> {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const timer of this.#aborting.values()) clearTimeout(timer);
    this.#aborting.clear();
    for (const [id, pending] of this.#pending) {
      const { hasBegun, isRepeated, reject } = pending;
      if (!hasBegun && !isRepeated && !isFinal && this.#repeat(id, pending)) continue;
      this.#pending.delete(id);
      reject(new PluginFailure(reason, { retryable: true, mayHaveBegun: hasBegun }));
    }
    await thread.terminate();
  }

  /** Sends a request that has not begun to the next thread. Returns false if there is none. */
  #repeat(id: number, pending: Pending): boolean {
    try {
      this.#started().postMessage({ ...pending.question, id }, []);
    } catch {
      return false;
    }
    pending.isRepeated = true;
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#thread !== undefined) await this.#end(this.#thread, "the runtime ends", true);
  }
}

/** A module that does not load names its files, which only the log may name. */
function failureOf({ error, isLoad }: Extract<ThreadAnswer, { error: string }>): PluginFailure {
  const text = processRedaction.text(error);
  return isLoad
    ? new PluginFailure("its module does not load", { retryable: false, cause: new Error(text) })
    : new PluginFailure(text, { retryable: false });
}
