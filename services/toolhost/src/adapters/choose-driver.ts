import type { Logger } from "@reeve/platform/logger";
import type { ToolhostConfig } from "../config.ts";
import type { ProbeReport, SandboxDriver } from "../ports/sandbox.ts";

type Works = Extract<ProbeReport, { works: true }>;

/** The isolation of this host: a driver that works, or why there is none. */
export type Choice =
  | { readonly driver: SandboxDriver; readonly report: Works }
  | { readonly driver: undefined; readonly refusal: string };

/** Drivers by their names, those that are better for a deployment first. */
export type Drivers = readonly SandboxDriver[];

/**
 * Chooses the isolation of code. Left to itself it takes the first driver that works and isolates; one that does not
 * isolate has to be asked for by its name, and is warned of at every start.
 */
export async function chooseDriver(
  wanted: ToolhostConfig["REEVE_SANDBOX"],
  drivers: Drivers,
  log: Pick<Logger, "info" | "warn">,
  signal: AbortSignal,
): Promise<Choice> {
  if (wanted === "none") {
    return refused(["REEVE_SANDBOX=none says that there is to be no sandbox"], log);
  }
  const failures: string[] = [];
  for (const driver of drivers) {
    if (wanted !== "auto" && driver.name !== wanted) continue;
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
  return refused(failures, log);
}

function failureOf(name: string, { reason, fixes }: Extract<ProbeReport, { works: false }>) {
  return [`${name}: ${reason}`, ...fixes.map((fix) => `  ${fix}`)].join("\n");
}

function refused(failures: readonly string[], log: Pick<Logger, "warn">): Choice {
  const refusal = [
    "no code is run here, and no file of a workspace touched, because nothing isolates it",
    ...failures,
  ].join("\n");
  log.warn({ refusal }, "no sandbox works here; code does not run");
  return { driver: undefined, refusal };
}
