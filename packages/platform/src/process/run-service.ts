import process from "node:process";
import type { z } from "zod";
import type { Environment, ListenAddress } from "../config.ts";
import { systemClock } from "../async/clock.ts";
import { untilAborted } from "../async/sleep.ts";
import { readConfig } from "../config.ts";
import type { Listener } from "../rpc/listener.ts";
import { Failure } from "../failure.ts";
import { openServerTls } from "../tls/server-tls.ts";
import type { ServerTlsSettings } from "../tls/tls-settings.ts";
import { keepCompiledModules } from "./keep-compiled-modules.ts";
import { startService } from "./start-service.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createLogger } from "../telemetry/logger.ts";
import { openProbes } from "../rpc/probes.ts";
import type { LimitSettings } from "./settings.ts";
import { commonSettings, limitsOf } from "./settings.ts";
import type { TracingSettings } from "../telemetry/tracing-settings.ts";
import { startTracing } from "../telemetry/start-tracing.ts";

/** The exit codes of a service. */
const exits = { done: 0, crashed: 1, misconfigured: 2 } as const;

/** The settings that every service has. */
type CommonConfig = TracingSettings &
  LimitSettings &
  ServerTlsSettings & { readonly REEVE_LOG_LEVEL: string };

export interface ServiceContext {
  readonly log: Logger;
  /** The environment of the process, for variables whose names are settings. */
  readonly environment: Environment;
  /** The open port of the service. It already answers probes. */
  readonly listener: Listener;
  /** Aborts when the process receives SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** The resources of the service, disposed in reverse order when it ends. */
  readonly resources: AsyncDisposableStack;
}

/** The parts of a service that its process needs. */
export interface ServiceDefinition<Config> {
  readonly name: string;
  /** The schema of its settings, which come from environment variables. */
  readonly settings: z.ZodType<Config>;
  /** Returns the address to listen on. */
  address(config: Config): ListenAddress;
}

/**
 * Runs a service as a process: reads its settings from the environment, answers probes from then on, starts the service as
 * soon as its store answers, and shuts it down gracefully on SIGTERM or SIGINT. A second signal ends the process at once.
 * Exit code 2: settings are missing or invalid, and the log lists all of them. Exit code 1: any other error.
 */
export async function runService<Config extends CommonConfig>(
  service: ServiceDefinition<Config>,
  start: Start<Config>,
): Promise<void> {
  const { name } = service;
  const end = new AbortController();
  for (const [signal, number] of [
    ["SIGTERM", 15],
    ["SIGINT", 2],
  ] as const) {
    process.on(signal, () => {
      if (end.signal.aborted) process.exit(128 + number);
      end.abort(new DOMException(`${name} got ${signal}`, "AbortError"));
    });
  }
  // An invalid level is reported later, together with all other invalid settings.
  const level = commonSettings.REEVE_LOG_LEVEL.catch("info").parse(process.env["REEVE_LOG_LEVEL"]);
  const log = createLogger(name, level);
  const crash = (error: unknown) => {
    log.fatal({ err: error }, "unhandled error; the process exits");
    process.exit(exits.crashed);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  process.exitCode = await runUntilAborted(service, start, { log, signal: end.signal });
  // All resources are released: a timer or socket that a library left open must not keep the process alive.
  process.exit();
}

async function runUntilAborted<Config extends CommonConfig>(
  { name, settings, address }: ServiceDefinition<Config>,
  start: Start<Config>,
  { log, signal }: Pick<ServiceContext, "log" | "signal">,
): Promise<number> {
  try {
    const config = readConfig(settings, process.env);
    // Disposed last, after everything that creates spans.
    await using telemetry = new AsyncDisposableStack();
    telemetry.use(await startTracing(`reeve-${name}`, config, log));
    await using resources = new AsyncDisposableStack();
    // Not part of what `startService` retries: probes are answered while the store is unavailable.
    const tls = resources.use(openServerTls(config, { clock: systemClock, log }));
    const listener = resources.use(
      await openProbes({ ...address(config), limits: limitsOf(config), tls }, log, signal),
    );
    const context = { log, environment: process.env, signal, resources, listener };
    await startWithStore(start, config, context);
    keepCompiledModules();
    await untilAborted(signal);
    log.info("service stopped");
    return exits.done;
  } catch (error) {
    if (signal.aborted) return exits.done;
    if (error instanceof Failure) {
      log.fatal(error.message);
      return error.kind === "invalid" ? exits.misconfigured : exits.crashed;
    }
    log.fatal({ err: error }, "service did not start");
    return exits.crashed;
  }
}

type Start<Config> = (config: Config, context: ServiceContext) => Promise<void>;

async function startWithStore<Config>(
  start: Start<Config>,
  config: Config,
  { resources, ...context }: ServiceContext,
): Promise<void> {
  const once = (opened: AsyncDisposableStack) => start(config, { ...context, resources: opened });
  resources.use(await startService(once, context.log, context.signal));
}
