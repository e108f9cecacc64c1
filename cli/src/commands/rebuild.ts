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
import { Argument, Command } from "commander";
import { z } from "zod";
import type { Context } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";

/** The projections, and the service that rebuilds each. */
const keepers = { runs: "gateway", threads: "gateway", approvals: "approvals" } as const;
type ProjectionName = keyof typeof keepers;
const names = Object.keys(keepers) as ProjectionName[];

/** How long a rebuild may show no sign of life. */
const idleTimeoutMs = 60_000;

const rebuildConfig = z.object(commonSettings);

/** Requests rebuilds of projections from the logs, and waits for them. */
export function rebuildCommand(context: Context): Command {
  const command = new Command("rebuild")
    .description(
      "Compare lists of runs, threads, and approvals with the logs, and repair them while the services run.\n\n" +
        "Connects to NATS. Reads the environment variables REEVE_NATS_URL, REEVE_NATS_USER, and REEVE_NATS_PASSWORD.",
    )
    .addArgument(new Argument("[projections...]", "what to rebuild (default: all)").choices(names))
    .option("--json", "print the result of each rebuild as a line of JSON");
  return command.action(async (given: ProjectionName[]) => {
    const { environment, signal, terminal } = context;
    const config = readConfig(rebuildConfig, environment);
    const log = createLogger("rebuild", config.REEVE_LOG_LEVEL);
    // The permissions of a user of NATS cover the replies to a client of its name.
    const name = config.REEVE_NATS_USER ?? "rebuild";
    const options = { name, log, ...credentialsOf(config) };
    await using nats = await connectNats(config.REEVE_NATS_URL, options, signal);
    const states = await openTable(nats, ProjectionSchema);
    for (const name of given.length === 0 ? names : given) {
      const timeout = { timeoutMs: idleTimeoutMs, reason: () => noSignOfLife(name) };
      using idle = new IdleTimeout(timeout, signal);
      let last: Projection | undefined;
      for await (const state of requestRebuild(states, name, idle.signal)) {
        idle.restart();
        last = state;
        if (isInProgress(state)) terminal.note(`${name}: ${state.rebuild?.logs ?? 0n} logs\n`);
      }
      if (last === undefined) continue;
      terminal.out(
        command.opts<{ json?: boolean }>().json ? jsonLine(ProjectionSchema, last) : resultOf(last),
      );
    }
  });
}

function isInProgress({ rebuild }: Projection): boolean {
  return rebuild !== undefined && rebuild.endedAt === undefined;
}

function resultOf({ name, rebuild }: Projection): string {
  return `${name}: ${rebuild?.logs ?? 0n} logs compared, ${rebuild?.repaired ?? 0n} repaired\n`;
}

function noSignOfLife(name: ProjectionName): Failure {
  const seconds = idleTimeoutMs / 1_000;
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the rebuild of ${name} has shown no sign of life for ${seconds} seconds; check that ${keepers[name]} runs: it performs the rebuild as soon as it does`,
  );
}
