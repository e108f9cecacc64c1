import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ProbeReport, SandboxDriver } from "../port.ts";
import { filesOnly } from "../port.ts";

type Works = Extract<ProbeReport, { works: true }>;

/** The chosen driver, or the reason why none works. */
export type DriverChoice =
  | {
      readonly driver: SandboxDriver;
      readonly report: Works;
      /** Why the driver runs no code. Absent if it does. */
      readonly refusal?: string;
    }
  | { readonly driver: undefined; readonly refusal: string };

type Log = Pick<Logger, "info" | "warn">;

interface ChoiceOptions {
  readonly log: Log;
  /** Measures the delays between probes. Default: monotonic time. */
  readonly clock?: Clock;
}

/** Delays before a driver that may work later is probed again. */
const probeBackoff = { firstDelayMs: 1_000, maxDelayMs: 30_000 };

/**
 * Chooses the driver for `setting`, the value of `REEVE_SANDBOX`. With `auto`, takes the first driver that works and isolates.
 * A driver without isolation must be named, and logs a warning at each start. A named driver that may work later is tried until
 * it works or `signal` aborts. If no permitted driver works, falls back to `files-only`, which runs our own file programs and no
 * other code.
 */
export async function chooseDriver(
  setting: string,
  drivers: readonly SandboxDriver[],
  { log, clock = steadyClock }: ChoiceOptions,
  signal: AbortSignal,
): Promise<DriverChoice> {
  if (setting === "none") {
    return refuseAll(["REEVE_SANDBOX=none turns sandboxes off"], log);
  }
  if (setting === filesOnly) {
    const failures = ["REEVE_SANDBOX=files-only permits file tools only"];
    return await chooseFilesOnly(failures, drivers, log, signal);
  }
  const failures: string[] = [];
  for (const driver of drivers) {
    if (setting === "auto" ? driver.name === filesOnly : driver.name !== setting) continue;
    const report =
      setting === "auto"
        ? await driver.probe(signal)
        : await probeUntilKnown(driver, { log, clock }, signal);
    if (!report.works) {
      failures.push(failureOf(driver.name, report));
      continue;
    }
    if (!report.isolates) {
      if (setting === "auto") continue;
      log.warn(
        { driver: driver.name },
        "code runs WITHOUT ISOLATION, as the user of this toolhost or REEVE_SANDBOX_UID; never run code that you do not trust",
      );
    } else if (!report.bounds.memory) {
      log.info(
        { driver: driver.name },
        "the memory limit applies to each process, not to all processes of a sandbox together; let the toolhost create control groups for a limit on all",
      );
    }
    for (const note of report.notes ?? []) {
      log.warn({ driver: driver.name, note }, "a preferred isolation does not work");
    }
    return { driver, report };
  }
  return await chooseFilesOnly(failures, drivers, log, signal);
}

/** Probes a driver until it works, or until only a change can make it work. */
async function probeUntilKnown(
  driver: SandboxDriver,
  { log, clock }: Required<ChoiceOptions>,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const backoff = new Backoff(probeBackoff);
  for (;;) {
    const report = await driver.probe(signal);
    if (report.works || report.isTransient !== true) return report;
    const { reason } = report;
    log.warn({ driver: driver.name, reason }, "the sandbox does not work yet; trying again");
    await clock.sleep(backoff.next(), signal);
  }
}

async function chooseFilesOnly(
  failures: readonly string[],
  drivers: readonly SandboxDriver[],
  log: Log,
  signal: AbortSignal,
): Promise<DriverChoice> {
  const driver = drivers.find(({ name }) => name === filesOnly);
  const report = await driver?.probe(signal);
  if (driver === undefined || report === undefined) return refuseAll(failures, log);
  if (!report.works) return refuseAll([...failures, failureOf(driver.name, report)], log);
  const summary =
    "this toolhost runs no code and no commands, because no sandbox is available; file tools work";
  const refusal = [summary, ...failures].join("\n");
  log.warn({ refusal }, "no sandbox is available; only file tools work");
  return { driver, report, refusal };
}

function failureOf(name: string, { reason, fixes }: Extract<ProbeReport, { works: false }>) {
  return [`${name}: ${reason}`, ...fixes.map((fix) => `  ${fix}`)].join("\n");
}

function refuseAll(failures: readonly string[], log: Log): DriverChoice {
  const refusal = [
    "this toolhost runs no code and no file tools, because no sandbox is available",
    ...failures,
  ].join("\n");
  log.warn({ refusal }, "no sandbox is available; all built-in tools are off");
  return { driver: undefined, refusal };
}
