import type { Logger } from "../telemetry/logger.ts";
import type { ServerAddress } from "./explain-tls.ts";
import { explainTls } from "./explain-tls.ts";
import type { NatsTls } from "./nats-tls.ts";

const answerMs = 5_000;

/** Logs why a connection with TLS does not succeed: once, until it does. */
export class TlsReport {
  readonly #servers: readonly ServerAddress[];
  readonly #tls: NatsTls;
  readonly #log: Logger;
  #isSettled = false;

  constructor(servers: readonly ServerAddress[], tls: NatsTls, log: Logger) {
    this.#servers = servers;
    this.#tls = tls;
    this.#log = log;
  }

  /** Looks for the cause of a failed attempt to connect. Further failures have no effect before the cause is known. */
  failed(signal: AbortSignal): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    void this.#explain(signal);
  }

  /** The connection is open. */
  succeeded(): void {
    this.#isSettled = false;
  }

  async #explain(signal: AbortSignal): Promise<void> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    const asked = this.#servers.map((server) => explainTls(server, this.#tls, deadline));
    const answers = await Promise.allSettled(asked);
    // No server answers. The next attempt to connect asks again.
    if (answers.every(({ status }) => status === "rejected")) this.#isSettled = false;
    for (const answer of answers) {
      if (answer.status === "fulfilled" && answer.value !== undefined) this.#log.warn(answer.value);
    }
  }
}
