import type { ConnectRouter } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import { Failure } from "../failure.ts";

/** The name under which a server says that it lives, whatever it can do. */
const liveness = "liveness";
/** The same as the empty name, for those who have to give one. */
const readiness = "readiness";
/** How often a watcher of the health is told again whether something changed. */
const watchIntervalMs = 1_000;

export interface HealthOptions {
  /** Names of the services of this server. */
  readonly services: readonly string[];
  ready(): boolean;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * Serves `grpc.health.v1.Health`. The empty name, "readiness" and the names of services tell whether the server can do its
 * work now; "liveness" only that it answers.
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
      const message = `this server has no service ${service}`;
      throw new Failure("not_found", ErrorReason.INVALID_REQUEST, message);
    },
    list: () => ({
      statuses: Object.fromEntries(names.map((name) => [name, { status: status(name) }])),
    }),
    async *watch({ service }, { signal }) {
      if (!knows(service)) {
        yield { status: ServingStatus.SERVICE_UNKNOWN };
        await sleep(2 ** 31 - 1, signal);
      }
      let told: ServingStatus | undefined;
      for (;;) {
        const now = status(service);
        if (now !== told) yield { status: now };
        told = now;
        await sleep(watchIntervalMs, signal);
      }
    },
  });
}
