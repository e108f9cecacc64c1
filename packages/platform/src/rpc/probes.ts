import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { connectionStateOf } from "../nats/connection-state.ts";
import type { Listener, ListenerOptions } from "./listener.ts";
import { openListener } from "./listener.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Nats } from "../nats/connect-nats.ts";
import type { ServeOptions } from "./server.ts";
import { serve } from "./server.ts";

/**
 * Opens the port of a service before the service starts. It answers probes as alive and not ready, until a server or
 * `serveProbes` takes over the listener.
 */
export async function openProbes(
  options: ListenerOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<Listener> {
  const listener = await openListener(options, log);
  await answerProbes(listener, { ready: () => false, starting: true, log }, signal);
  log.info({ url: listener.url }, "probes are answered");
  return listener;
}

/** Answers only probes on `listener`: ready while NATS is connected and `signal` has not aborted. */
export async function serveProbes(
  listener: Listener,
  { nats, log }: { readonly nats: Nats; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const ready = () => connectionStateOf(nats.connection).isUp;
  await answerProbes(listener, { ready, starting: false, log }, signal);
}

async function answerProbes(
  listener: Listener,
  options: Pick<ServeOptions, "ready" | "starting" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const nowhere = { host: "", port: 0 };
  await serve(() => undefined, { ...nowhere, ...options, listener, services: [Health] }, signal);
}
