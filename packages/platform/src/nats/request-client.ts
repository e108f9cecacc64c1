import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { createInbox, errors } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { ConnectionState } from "./connection-state.ts";
import { connectionStateOf } from "./connection-state.ts";
import { inboxPrefixesOf } from "./inbox.ts";

/** The timeout of a request. Timeouts are checked every `sweepMs`. */
const timeoutMs = 4_000;
const sweepMs = 500;
/** The status of a reply that says that the subject has no subscribers. */
const noResponders = 503;

interface PendingRequest {
  readonly subject: string;
  readonly resolve: (reply: Msg | undefined) => void;
  readonly reject: (refusal: Failure) => void;
  readonly sentAt: number;
}

export interface RequestMessage {
  readonly data?: Uint8Array | string;
  readonly headers?: MsgHdrs;
}

const clients = new WeakMap<NatsConnection, RequestClient>();

/** Returns the request client of a connection. All callers share one object. */
export function requestClientOf(connection: NatsConnection): RequestClient {
  const known = clients.get(connection);
  if (known !== undefined) return known;
  const client = new RequestClient(connection);
  clients.set(connection, client);
  return client;
}

/**
 * Sends requests to JetStream and matches the replies, until its connection closes. One inbox and one timer serve all requests:
 * creating them per request would take most of the request's time.
 */
export class RequestClient {
  readonly #connection: NatsConnection;
  readonly #state: ConnectionState;
  readonly #inbox: string;
  readonly #pending = new Map<string, PendingRequest>();
  #sweep: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#state = connectionStateOf(connection);
    this.#inbox = createInbox(inboxPrefixesOf(connection).store);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const hasResponder = message.headers?.code !== noResponders;
        this.#settle(message.subject, hasResponder ? message : undefined);
      },
    });
    void this.#watchRefusals();
    // A lost connection loses the replies, and perhaps the requests.
    this.#state.onChange(() => this.#expire(Number.POSITIVE_INFINITY));
  }

  /**
   * Sends a request and resolves with the reply, or with undefined after about four seconds without one. Rejects with a Failure
   * of kind `unavailable` that names the subject when the server does not permit the request. Sends nothing while the
   * connection is lost.
   */
  send(subject: string, { data, headers }: RequestMessage): Promise<Msg | undefined> {
    if (!this.#state.isUp) return Promise.resolve(undefined);
    const reply = `${this.#inbox}.${++this.#count}`;
    const { promise, resolve, reject } = Promise.withResolvers<Msg | undefined>();
    this.#pending.set(reply, { subject, resolve, reject, sentAt: performance.now() });
    this.#sweep ??= setInterval(() => this.#sweepPending(), sweepMs).unref();
    try {
      this.#connection.publish(subject, data, { reply, ...(headers && { headers }) });
    } catch {
      this.#settle(reply, undefined);
    }
    return promise;
  }

  #settle(reply: string, message: Msg | undefined): void {
    this.#pending.get(reply)?.resolve(message);
    this.#pending.delete(reply);
  }

  async #watchRefusals(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type !== "error") continue;
      const { error } = status;
      if (!(error instanceof errors.PermissionViolationError)) continue;
      if (error.operation !== "publish") continue;
      for (const [reply, { subject, reject }] of this.#pending) {
        if (subject !== error.subject) continue;
        reject(forbidden(subject, error));
        this.#settle(reply, undefined);
      }
    }
  }

  /** Ends the timer only here: a process sends thousands of requests a second, and is often without one for a moment. */
  #sweepPending(): void {
    this.#expire(performance.now() - timeoutMs);
    if (this.#pending.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #expire(sentBefore: number): void {
    for (const [reply, { sentAt }] of this.#pending) {
      if (sentAt < sentBefore) this.#settle(reply, undefined);
    }
  }
}

function forbidden(subject: string, cause: unknown): Failure {
  const message = `this user of NATS may not publish to ${subject}; give it the permissions of this version, see "Users of NATS" in docs/deploy.md`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
}
