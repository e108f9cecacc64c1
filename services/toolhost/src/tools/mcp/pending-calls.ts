import type { Transport } from "@modelcontextprotocol/client";
import { SdkHttpError } from "@modelcontextprotocol/client";
import { settledWithin } from "@reeve/platform/async/settled-within";

/**
 * The calls that were sent to a server and that it has not answered, even if nobody waits for the answer. Observed on the
 * transport, because a client forgets calls that are cancelled.
 */
export class PendingCalls {
  readonly #pending = new Map<string | number, PromiseWithResolvers<void>>();

  /** Observes the messages of a transport from now on. */
  watch(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const isCall = "method" in message && message.method === "tools/call" && "id" in message;
      if (!isCall) return await send(message, options);
      this.#pending.set(message.id, Promise.withResolvers());
      try {
        await send(message, options);
      } catch (error) {
        // An HTTP status is an answer.
        if (error instanceof SdkHttpError) this.#settle(message.id);
        throw error;
      }
    };
    const deliver = transport.onmessage;
    // A transport has no addEventListener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (message, extra) => {
      deliver?.(message, extra);
      if (!("method" in message) && message.id !== undefined) this.#settle(message.id);
    };
  }

  /** Returns whether all calls are answered within `timeoutMs`. Rejects when `signal` aborts. */
  async settled(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#pending.size === 0) return true;
    const answers = [...this.#pending.values()].map(({ promise }) => promise);
    return await settledWithin(Promise.all(answers), timeoutMs, signal);
  }

  #settle(id: string | number): void {
    this.#pending.get(id)?.resolve();
    this.#pending.delete(id);
  }
}
