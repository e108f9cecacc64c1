import type { Answer, ToolCallFact } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import type { LogListener, Tail } from "@reeve/jetstream/log/port";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import type { CallPorts } from "../ports/call-ports.ts";

/** Delays before the journal is followed again. */
const backoffOptions = { firstDelayMs: 100, maxDelayMs: 10_000 };

export interface CallListener {
  /** Called when the call is cancelled, or taken over by another host. */
  onEnd(isTakenOver: boolean): void;
  onAnswer(answer: Answer): void;
}

/** A call whose journal is received since before `tail` was its end. */
interface WatchedCall {
  readonly key: CallKey;
  readonly tail: Tail;
  readonly journal: LogListener<ToolCallFact>;
}

/**
 * Follows the journal of a running call after `tail`, and calls the listener for what others write, until the call has ended or
 * `signal` aborts. Continues after the last fact that it saw when the journal was unavailable. Never rejects.
 */
export async function watchCall(
  { key, tail, journal: listened }: WatchedCall,
  ports: Pick<CallPorts, "journal" | "host" | "log"> & { readonly listener: CallListener },
  signal: AbortSignal,
): Promise<void> {
  const { journal, host, log, listener } = ports;
  const backoff = new Backoff(backoffOptions);
  let { sequence } = tail;
  let follow = () => listened.follow(tail, signal);
  while (!signal.aborted) {
    try {
      for await (const batch of follow()) {
        for (const event of batch.events) {
          const { fact } = event;
          if (fact.case === "started" && fact.value.host !== host) return listener.onEnd(true);
          if (fact.case === "cancelled") return listener.onEnd(false);
          if (fact.case === "answer") listener.onAnswer(fact.value);
          if (endsCall(event)) return;
        }
        ({ sequence } = batch.tail);
        backoff.reset();
      }
    } catch (error) {
      if (!signal.aborted) {
        log.warn(
          { err: error, callId: key.call },
          "cannot follow the journal of the call; trying again",
        );
      }
    }
    await sleep(backoff.next(), signal).catch(() => undefined);
    follow = () => journal.follow(key, sequence, signal);
  }
}
