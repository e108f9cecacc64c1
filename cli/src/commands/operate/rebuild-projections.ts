import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { ErrorReason } from "@reeve/contracts/error";
import { requestRebuild } from "@reeve/jetstream/projection/request-rebuild";
import { openTable } from "@reeve/jetstream/table/nats";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { readConfig } from "@reeve/platform/config";
import { Failure } from "@reeve/platform/failure";
import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { commonSettings } from "@reeve/platform/process/settings";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";

/** How long a rebuild may show no sign of life. */
const idleTimeoutMs = 60_000;

const rebuildConfig = z.object(commonSettings);

/** The name of a projection, and the service that rebuilds it. */
interface KeptProjection {
  readonly name: string;
  readonly keeper: string;
}

/** Requests rebuilds of projections, waits for them, and prints their results. */
export async function rebuildProjections(
  { environment, signal, terminal }: Context,
  projections: readonly KeptProjection[],
  isJson: boolean,
): Promise<void> {
  const config = readConfig(rebuildConfig, environment);
  const log = createLogger("rebuild", config.REEVE_LOG_LEVEL);
  // The permissions of a user of NATS cover the replies to a client of its name.
  const options = { name: config.REEVE_NATS_USER ?? "rebuild", log, ...credentialsOf(config) };
  await using nats = await connectNats(config.REEVE_NATS_URL, options, signal);
  const states = await openTable(nats, ProjectionSchema);
  for (const projection of projections) {
    const { name } = projection;
    const timeout = { timeoutMs: idleTimeoutMs, reason: () => noSignOfLife(projection) };
    using idle = new IdleTimeout(timeout, signal);
    let last: Projection | undefined;
    for await (const state of requestRebuild(states, name, idle.signal)) {
      idle.restart();
      last = state;
      if (isInProgress(state)) terminal.note(`${name}: ${state.rebuild?.logs ?? 0n} logs\n`);
    }
    if (last === undefined) continue;
    terminal.out(isJson ? jsonLine(ProjectionSchema, last) : resultOf(last));
  }
}

function isInProgress({ rebuild }: Projection): boolean {
  return rebuild !== undefined && rebuild.endedAt === undefined;
}

function resultOf({ name, rebuild }: Projection): string {
  return `${name}: ${rebuild?.logs ?? 0n} logs compared, ${rebuild?.repaired ?? 0n} repaired\n`;
}

function noSignOfLife({ name, keeper }: KeptProjection): Failure {
  const seconds = idleTimeoutMs / 1_000;
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the rebuild of ${name} has shown no sign of life for ${seconds} seconds; check that ${keeper} runs: it performs the rebuild as soon as it does`,
  );
}
