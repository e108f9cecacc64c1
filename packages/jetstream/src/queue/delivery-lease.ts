import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@reeve/platform/async/clock";
import { bootClock } from "@reeve/platform/async/boot-clock";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";

/** The share of the ack-wait after which a lease counts as lapsed. The rest allows for the time that a message travels. */
const safeShare = 0.9;
const inProgress = "+WPI";

/** What a lease has to know about its delivery. */
export interface LeaseTerms {
  /** The subject to which the server listens for acknowledgements of the delivery. */
  readonly ackSubject: string;
  readonly ackWaitMs: number;
  /** When the server delivered the message at the earliest, on the lease's clock. */
  readonly sinceMs: number;
}

/**
 * The time during which no other taker can have been given a message. JetStream applies an acknowledgement of any delivery to
 * the message, so a taker whose lease has lapsed must stay silent. Only an extension that the server has answered prolongs the
 * lease: one that the connection holds up may arrive when the message has another taker.
 */
export class DeliveryLease {
  readonly #requests: RequestClient;
  readonly #terms: LeaseTerms;
  readonly #clock: Pick<Clock, "now">;
  #untilMs: number;
  #isExtending = false;
  #isRevoked = false;

  constructor(
    connection: NatsConnection,
    terms: LeaseTerms,
    clock: Pick<Clock, "now"> = bootClock,
  ) {
    this.#requests = requestClientOf(connection);
    this.#terms = terms;
    this.#clock = clock;
    this.#untilMs = this.#from(terms.sinceMs);
  }

  /** Whether the message still belongs to this taker. Once false, it stays false. */
  get isHeld(): boolean {
    if (this.#clock.now() >= this.#untilMs) this.#isRevoked = true;
    return !this.#isRevoked;
  }

  /** Ends the lease: the message was given to another taker. */
  revoke(): void {
    this.#isRevoked = true;
  }

  /** Asks the server to extend the lease, unless it has lapsed or a request is unanswered. */
  extend(): void {
    if (this.#isExtending || !this.isHeld) return;
    this.#isExtending = true;
    void this.#ask(this.#clock.now());
  }

  async #ask(sinceMs: number): Promise<void> {
    const sent = this.#requests.send(this.#terms.ackSubject, { data: inProgress });
    const reply = await sent.catch(() => undefined);
    // Without a reply, the next extension tries again, as long as the lease lasts.
    if (reply !== undefined && this.isHeld) this.#untilMs = this.#from(sinceMs);
    this.#isExtending = false;
  }

  #from(sinceMs: number): number {
    return sinceMs + safeShare * this.#terms.ackWaitMs;
  }
}
