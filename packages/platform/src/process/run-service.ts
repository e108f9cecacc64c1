import process from "node:process";
import type { z } from "zod";
import type { Environment, ListenAddress } from "../config.ts";
import { readConfig } from "../config.ts";
import type { Listener } from "../rpc/listener.ts";
import { Failure } from "../failure.ts";
import { startService } from "./start-service.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createLogger } from "../telemetry/logger.ts";
import { openProbes } from "../rpc/probes.ts";
import { commonSettings } from "./settings.ts";
import type { TracingSettings } from "../telemetry/tracing-settings.ts";
import { startTracing } from "../telemetry/start-tracing.ts";

/** Exit codes of a service. */
const exits = { done: 0, crashed: 1, misconfigured: 2 } as const;

/** What every service has in its settings. */
type CommonConfig = TracingSettings & { readonly REEVE_LOG_LEVEL: string };

export interface ServiceContext {
  readonly log: Logger;
  /** The environment of the process, for what settings name in it. */
  readonly environment: Environment;
  /** The port of the service, where probes are answered already. */
  readonly listener: Listener;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
  /** What the service opened; disposed in reverse when it ends. */
  readonly resources: AsyncDisposableStack;
}

/** A service, as its process needs to know it. */
export interface ServiceDefinition<Config> {
  readonly name: string;
  /** Its settings, from environment variables. */
  readonly settings: z.ZodType<Config>;
  /** Where it listens. */
  address(config: Config): ListenAddress;
}

/**
 * Runs a service as a process: reads its settings from the environment, answers probes from then on, starts it as soon as its
 * store answers, and ends it in order on SIGTERM or SIGINT; a second signal ends it at once. Exit code 2: settings are missing or wrong, all of them are listed. 1: a fault.
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
  // A level that there is not is told with all other settings that are wrong.
  const level = commonSettings.REEVE_LOG_LEVEL.catch("info").parse(process.env["REEVE_LOG_LEVEL"]);
  const log = createLogger(name, level);
  const crash = (error: unknown) => {
    log.fatal({ err: error }, "fault; the process ends");
    process.exit(exits.crashed);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  process.exitCode = await live(service, start, { log, signal: end.signal });
  // What a library left running must not keep a process that has given back everything.
  process.exit();
}

async function live<Config extends CommonConfig>(
  { name, settings, address }: ServiceDefinition<Config>,
  start: Start<Config>,
  { log, signal }: Pick<ServiceContext, "log" | "signal">,
): Promise<number> {
  try {
    const config = readConfig(settings, process.env);
    // Ends after all that makes spans.
    await using telemetry = new AsyncDisposableStack();
    telemetry.use(await startTracing(`reeve-${name}`, config, log));
    await using resources = new AsyncDisposableStack();
    // Outside of what is started again: probes are answered while the store is away.
    const listener = resources.use(await openProbes(address(config), log, signal));
    const context = { log, environment: process.env, signal, resources, listener };
    await whenStoreAnswers(start)(config, context);
    await aborted(signal);
    log.info("service ends");
    return exits.done;
  } catch (error) {
    if (signal.aborted) return exits.done;
    if (error instanceof Failure) {
      log.fatal(error.message);
      return error.kind === "invalid" ? exits.misconfigured : exits.crashed;
    }
    log.fatal({ err: error }, "service could not start");
    return exits.crashed;
  }
}

type Start<Config> = (config: Config, context: ServiceContext) => Promise<void>;

function whenStoreAnswers<Config>(start: Start<Config>): Start<Config> {
  return async (config, { resources, ...context }) => {
    const once = (opened: AsyncDisposableStack) => start(config, { ...context, resources: opened });
    resources.use(await startService(once, context.log, context.signal));
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  // Nothing else may keep the process: a service without open handles still waits for its signal.
  const alive = setInterval(() => undefined, 60_000);
  await promise;
  clearInterval(alive);
}
