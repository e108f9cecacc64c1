import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ProbeReport, SandboxDriver } from "../port.ts";
import { filesOnly } from "../port.ts";

type Works = Extract<ProbeReport, { works: true }>;

/** The isolation of this host: a driver that works, or why there is none. */
export type DriverChoice =
  | {
      readonly driver: SandboxDriver;
      readonly report: Works;
      /** Why it runs no code. Absent: it does. */
      readonly refusal?: string;
    }
  | { readonly driver: undefined; readonly refusal: string };

/** Drivers by their names, those that are better for a deployment first. */
export type Drivers = readonly SandboxDriver[];

type Log = Pick<Logger, "info" | "warn">;

/**
 * Chooses the isolation of code. Left to itself it takes the first driver that works and isolates; one that does not
 * isolate has to be asked for by its name, and is warned of at every start. Where none works that may be taken, our own
 * programs over files are all that runs, if they can.
 */
export async function chooseDriver(
  wanted: string,
  drivers: Drivers,
  log: Log,
  signal: AbortSignal,
): Promise<DriverChoice> {
  if (wanted === "none") {
    return refused(["REEVE_SANDBOX=none says that there is to be no sandbox"], log);
  }
  if (wanted === filesOnly) {
    return await filesAlone(["REEVE_SANDBOX=files-only says so"], drivers, log, signal);
  }
  const failures: string[] = [];
  for (const driver of drivers) {
    if (wanted === "auto" ? driver.name === filesOnly : driver.name !== wanted) continue;
    const report = await driver.probe(signal);
    if (!report.works) {
      failures.push(failureOf(driver.name, report));
      continue;
    }
    if (!report.isolates) {
      if (wanted === "auto") continue;
      log.warn(
        { driver: driver.name },
        "code runs WITHOUT ISOLATION, as the user of this toolhost or one of its choice: never let it run what you do not trust",
      );
    } else if (!report.bounds.memory) {
      log.info({ driver: driver.name }, "memory is bounded for each process by itself here");
    }
    for (const note of report.notes ?? []) {
      log.warn({ driver: driver.name, note }, "a better isolation was tried and does not work");
    }
    return { driver, report };
  }
  return await filesAlone(failures, drivers, log, signal);
}

async function filesAlone(
  failures: readonly string[],
  drivers: Drivers,
  log: Log,
  signal: AbortSignal,
): Promise<DriverChoice> {
  const driver = drivers.find(({ name }) => name === filesOnly);
  const report = await driver?.probe(signal);
  if (driver === undefined || report === undefined) return refused(failures, log);
  if (!report.works) return refused([...failures, failureOf(driver.name, report)], log);
  const why =
    "no code and no command is run here, because nothing isolates it; tools over files work";
  const refusal = [why, ...failures].join("\n");
  log.warn({ refusal }, "no sandbox works here; code does not run, tools over files do");
  return { driver, report, refusal };
}

function failureOf(name: string, { reason, fixes }: Extract<ProbeReport, { works: false }>) {
  return [`${name}: ${reason}`, ...fixes.map((fix) => `  ${fix}`)].join("\n");
}

function refused(failures: readonly string[], log: Log): DriverChoice {
  const refusal = [
    "no code is run here, and no file of a workspace touched, because nothing isolates it",
    ...failures,
  ].join("\n");
  log.warn({ refusal }, "no sandbox works here; all built-in tools are off");
  return { driver: undefined, refusal };
}
