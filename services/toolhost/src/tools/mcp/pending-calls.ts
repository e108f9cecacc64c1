import { setTimeout as wait } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/client";
import { SdkHttpError } from "@modelcontextprotocol/client";

/** The calls that a server was sent and has not answered, whoever still waits for them. Seen on the wire, because a client forgets calls that are cancelled. */
export class PendingCalls {
  readonly #owed = new Map<string | number, PromiseWithResolvers<void>>();

  /** Sees what goes over a transport from now on. */
  watch(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const isCall = "method" in message && message.method === "tools/call" && "id" in message;
      if (!isCall) return await send(message, options);
      this.#owed.set(message.id, Promise.withResolvers());
      try {
        await send(message, options);
      } catch (error) {
        // A status is an answer.
        if (error instanceof SdkHttpError) this.#given(message.id);
        throw error;
      }
    };
    const deliver = transport.onmessage;
    // A transport has no addEventListener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (message, extra) => {
      deliver?.(message, extra);
      if (!("method" in message) && message.id !== undefined) this.#given(message.id);
    };
  }

  /** Resolves with whether all calls are answered, after `longestMs` at the latest. Rejects when `signal` aborts. */
  async settled(longestMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#owed.size === 0) return true;
    const answers = [...this.#owed.values()].map(({ promise }) => promise);
    const enough = new AbortController();
    const until = AbortSignal.any([signal, enough.signal]);
    const tooLate = wait(longestMs, false, { signal: until, ref: false });
    try {
      return await Promise.race([Promise.all(answers).then(() => true), tooLate]);
    } finally {
      enough.abort();
      tooLate.catch(() => undefined);
    }
  }

  #given(id: string | number): void {
    this.#owed.get(id)?.resolve();
    this.#owed.delete(id);
  }
}
