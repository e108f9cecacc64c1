import type { NatsConnection } from "@nats-io/transport-node";

/** What became of a question: an answer, nobody who listens, or nobody who answered in time. */
export type RequestOutcome =
  | { readonly kind: "answered"; readonly data: Uint8Array }
  | { readonly kind: "nobody" }
  | { readonly kind: "silent" };

/** Asks whoever listens on a subject. A connection that is lost is silence. Throws only the reason of `signal`. */
export async function sendRequest(
  connection: NatsConnection,
  subject: string,
  { data, timeoutMs }: { readonly data: Uint8Array; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<RequestOutcome> {
  signal.throwIfAborted();
  try {
    const answer = await connection.request(subject, data, { timeout: timeoutMs });
    signal.throwIfAborted();
    return { kind: "answered", data: answer.data };
  } catch (error) {
    signal.throwIfAborted();
    const isNobody =
      error instanceof Error && /no responders/i.test(`${error.name} ${error.message}`);
    return { kind: isNobody ? "nobody" : "silent" };
  }
}
