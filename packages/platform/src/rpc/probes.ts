import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import type { ListenAddress } from "../config.ts";
import { stateOf } from "../nats/connection-state.ts";
import type { Door } from "./door.ts";
import { openDoor } from "./door.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Nats } from "../nats/connect-nats.ts";
import type { ServeOptions } from "./server.ts";
import { serve } from "./server.ts";

/**
 * Opens the port of a service before anything else of it is there: it lives, and is not ready. A server that takes the door
 * over says more.
 */
export async function openProbes(
  address: ListenAddress,
  log: Logger,
  signal: AbortSignal,
): Promise<Door> {
  const door = await openDoor(address, log);
  await answerProbes(door, { ready: () => false, starting: true, log }, signal);
  log.info({ url: door.url }, "probes are answered");
  return door;
}

/** Answers probes, and nothing else, on `door`: ready while NATS is there and the process is not asked to end. */
export async function serveProbes(
  door: Door,
  { nats, log }: { readonly nats: Nats; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const ready = () => stateOf(nats.connection).isUp;
  await answerProbes(door, { ready, starting: false, log }, signal);
}

async function answerProbes(
  door: Door,
  options: Pick<ServeOptions, "ready" | "starting" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const nowhere = { host: "", port: 0 };
  await serve(() => undefined, { ...nowhere, ...options, door, services: [Health] }, signal);
}
