import { tmpdir } from "node:os";
import process from "node:process";
import type { Identity } from "../../src/host/identity.ts";
import { sandboxIdentity } from "../../src/host/identity.ts";
import type { DockerOptions } from "../../src/docker/driver.ts";
import { DockerDriver } from "../../src/docker/driver.ts";
import type { ProbeReport } from "../../src/port.ts";

/** The container engine of the tests. */
export interface TestEngine {
  readonly options: DockerOptions & { readonly address: string };
  readonly identity: Identity;
  readonly driver: DockerDriver;
  readonly report: Extract<ProbeReport, { works: true }>;
}

/**
 * Returns the engine at `DOCKER_HOST`, or why the tests cannot use it. Throws in the second case if `REEVE_ENGINE` is
 * `required`, so that the tests fail instead of being skipped.
 */
export async function testEngine(): Promise<TestEngine | { readonly why: string }> {
  const identity = sandboxIdentity(64_017);
  const address = process.env["DOCKER_HOST"];
  const image = process.env["REEVE_SANDBOX_IMAGE"] ?? "reeve-sandbox:latest";
  if (address === undefined) return without("DOCKER_HOST is not set");
  const options = { identity, address, image, probeDir: tmpdir };
  const driver = new DockerDriver(options);
  const report = await driver.probe(AbortSignal.timeout(60_000));
  if (!report.works) return without([report.reason, ...report.fixes].join("; "));
  return { options, identity, driver, report };
}

function without(why: string): { readonly why: string } {
  if (process.env["REEVE_ENGINE"] !== "required") return { why };
  throw new Error(`REEVE_ENGINE=required, but the tests cannot use a container engine: ${why}`);
}
