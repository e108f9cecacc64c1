import type { ConnectRouter } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "../async/clock.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import { Failure } from "../failure.ts";

/** The service name for liveness: always SERVING. */
const liveness = "liveness";
/** An alias of the empty name, for clients that require a name. */
const readiness = "readiness";
/** The interval between checks for a watching client. */
const watchIntervalMs = 1_000;

export interface HealthOptions {
  /** The type names of the services of this server. */
  readonly services: readonly string[];
  ready(): boolean;
  /** Ends watches too: it rejects when the server drains. */
  sleep: Clock["sleep"];
}

/**
 * Serves `grpc.health.v1.Health`. The empty name, "readiness", and the names of services report whether the server is ready;
 * "liveness" reports only that it answers.
 */
export function serveHealth(
  router: ConnectRouter,
  { services, ready, sleep }: HealthOptions,
): void {
  const names = ["", liveness, readiness, ...services];
  const status = (name: string) =>
    name === liveness || ready() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  const knows = (service: string) => names.includes(service);
  router.service(Health, {
    check({ service }) {
      if (knows(service)) return { status: status(service) };
      const message = `unknown service ${service}; list the services of this server with List`;
      throw new Failure("not_found", ErrorReason.INVALID_REQUEST, message);
    },
    list: () => ({
      statuses: Object.fromEntries(names.map((name) => [name, { status: status(name) }])),
    }),
    async *watch({ service }, { signal }) {
      if (!knows(service)) {
        yield { status: ServingStatus.SERVICE_UNKNOWN };
        await sleep(Infinity, signal);
      }
      let sent: ServingStatus | undefined;
      for (;;) {
        const current = status(service);
        if (current !== sent) yield { status: current };
        sent = current;
        await sleep(watchIntervalMs, signal);
      }
    },
  });
}
