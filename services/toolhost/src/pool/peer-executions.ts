import type { Execution, ExecutionState, Executions } from "@reeve/calls/ports/executions";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { ProbeOutcome } from "@reeve/jetstream/queue/nats-host-probes";
import type { Clock } from "@reeve/platform/async/clock";

/**
 * How long this host must have been connected before it can tell that another one has no listener: after an outage of the store,
 * the others reconnect at different moments.
 */
const reconnectMs = 4_000;
/** The same before it can tell that another one is silent: as long as a presence lives. */
const silenceMs = 10_000;
/** Delay before a host that seems to be gone is asked again. */
const confirmMs = 2_000;

export interface PeerExecutionsOptions {
  /** The executions of this host. */
  readonly own: Executions;
  readonly host: string;
  readonly probe: (host: string, key: CallKey, signal: AbortSignal) => Promise<ProbeOutcome>;
  /** Whether the presence of a host is absent: it wrote none for ten seconds, has ended, or another host found it gone. */
  readonly isAbsent: (host: string, signal: AbortSignal) => Promise<boolean>;
  /** How long this host has been connected without interruption. 0: it is not. */
  readonly connectedMs: () => number;
  readonly clock: Clock;
}

/**
 * The executions of all hosts, which are asked for them. One is lost when its host answers that it does not have it; when the
 * server knows of no such host, twice; or when the host does not answer, twice, and wrote no presence for ten seconds. A host
 * that lost its own connection meanwhile knows nothing about the others.
 */
export class PeerExecutions implements Executions {
  readonly #options: PeerExecutionsOptions;

  constructor(options: PeerExecutionsOptions) {
    this.#options = options;
  }

  async stateOf(execution: Execution, signal: AbortSignal): Promise<ExecutionState> {
    const { own, host, clock } = this.#options;
    if (execution.host === host) return await own.stateOf(execution, signal);
    const first = await this.#ask(execution, signal);
    if (first !== "lost_once") return first;
    await clock.sleep(confirmMs, signal);
    const second = await this.#ask(execution, signal);
    return second === "lost_once" ? "lost" : second;
  }

  async #ask({ host, key }: Execution, signal: AbortSignal): Promise<ExecutionState | "lost_once"> {
    const { probe, isAbsent, connectedMs } = this.#options;
    switch (await probe(host, key, signal)) {
      case "running":
        return "running";
      case "absent":
        return "lost";
      case "answered":
        return "unknown";
      case "no_listener":
        return connectedMs() >= reconnectMs ? "lost_once" : "unknown";
      case "no_answer": {
        const isSilent = connectedMs() >= silenceMs && (await isAbsent(host, signal));
        return isSilent ? "lost_once" : "unknown";
      }
    }
  }
}
