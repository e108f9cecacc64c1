import { BubblewrapDriver } from "../../src/bubblewrap/driver.ts";
import { sandboxIdentity } from "../../src/host/identity.ts";
import type { SandboxCommand } from "../../src/port.ts";
import { defaultLimits } from "../../src/port.ts";

const bubblewrap = new BubblewrapDriver(sandboxIdentity(64_017));

/** Why bubblewrap does not work on this machine, for the titles of skipped tests. Empty if it works. */
export const skipReason = await probe();

export function commandOf(...argv: readonly string[]): SandboxCommand {
  return { argv, limits: { ...defaultLimits, timeoutMs: 30_000 } };
}

async function probe(): Promise<string> {
  const report = await bubblewrap.probe(AbortSignal.timeout(30_000));
  return report.works ? "" : ` (skipped: ${report.reason})`;
}
