import type { ConnectRouter } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../gen/grpc/health/v1/health_pb.ts";
import { Failure } from "./failure.ts";

/** How often a watcher of the health is told again whether something changed. */
const watchEveryMs = 1_000;

export interface HealthOptions {
  /** Names of the services of this server. */
  readonly services: readonly string[];
  ready(): boolean;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Serves `grpc.health.v1.Health`: the empty name stands for the whole server. */
export function serveHealth(
  router: ConnectRouter,
  { services, ready, sleep }: HealthOptions,
): void {
  const status = () => (ready() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
  const knows = (service: string) => service === "" || services.includes(service);
  router.service(Health, {
    check({ service }) {
      if (knows(service)) return { status: status() };
      const message = `this server has no service ${service}`;
      throw new Failure("not_found", ErrorReason.INVALID_REQUEST, message);
    },
    list: () => ({
      statuses: Object.fromEntries(["", ...services].map((name) => [name, { status: status() }])),
    }),
    async *watch({ service }, { signal }) {
      if (!knows(service)) {
        yield { status: ServingStatus.SERVICE_UNKNOWN };
        await sleep(2 ** 31 - 1, signal);
      }
      let told: ServingStatus | undefined;
      for (;;) {
        const now = status();
        if (now !== told) yield { status: now };
        told = now;
        await sleep(watchEveryMs, signal);
      }
    },
  });
}
