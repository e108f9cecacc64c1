import { afterAll, beforeAll, describe, test } from "vitest";
import { agentContract } from "./agent-contract.ts";
import { boundsContract } from "./bounds-contract.ts";
import { commandContract } from "./command-contract.ts";
import { filesContract } from "./files-contract.ts";
import { isolationContract } from "./isolation-contract.ts";
import type { NetworkBench } from "./network-bench.ts";
import { networkBench } from "./network-bench.ts";
import { networkBoundsContract } from "./network-bounds-contract.ts";
import { networkContract } from "./network-contract.ts";
import type { DriverUnderTest, SandboxBench } from "./sandbox-bench.ts";
import { sandboxBench } from "./sandbox-bench.ts";
import { sessionContract } from "./session-contract.ts";
import { skillsContract } from "./skills-contract.ts";

/** Tests what every driver guarantees, even without isolation. */
export function commandsContract(name: string, tested: DriverUnderTest): void {
  describe(`a ${name} sandbox`, () => {
    const bench = benchFor(tested);
    commandContract(bench);
    filesContract(bench);
    sessionContract(bench);
  });
}

/** Tests what a driver guarantees that runs only our own file programs. */
export function filesOnlyContract(name: string, tested: DriverUnderTest): void {
  describe(`${name}, instead of a sandbox`, () => {
    filesContract(benchFor(tested));
  });
}

/** Tests what every driver with isolation guarantees. Without a driver, skips the tests with `why` in their titles. */
export function sandboxContract(name: string, tested: DriverUnderTest | undefined, why = ""): void {
  describe.skipIf(tested === undefined)(`a ${name} sandbox${why}`, () => {
    const bench = benchFor(tested);
    commandContract(bench);
    isolationContract(bench, tested?.hidden ?? []);
    skillsContract(bench);
    agentContract(bench);
    describe("with a proxy", () => {
      networkContracts(bench);
    });
    boundsContract(bench);
    filesContract(bench);
    sessionContract(bench);
  });
}

function networkContracts(bench: () => SandboxBench): void {
  let network: NetworkBench | undefined;
  beforeAll(async () => {
    network = await networkBench(bench());
  });
  afterAll(() => network?.[Symbol.asyncDispose]());
  const ready = () => {
    if (network === undefined) throw new Error("the network is not ready");
    return network;
  };
  networkContract(bench, ready);
  networkBoundsContract(ready);
}

/**
 * Tests what every driver guarantees whose sandboxes keep their own workspaces. Skips tests that need the workspace on this
 * host, and the isolation, which the cluster provides.
 */
export function sessionWorkspaceContract(
  name: string,
  tested: DriverUnderTest | undefined,
  why = "",
): void {
  describe.skipIf(tested === undefined)(`a ${name} sandbox${why}`, () => {
    const bench = benchFor(tested);
    const onHost = test.skip;
    commandContract(bench, onHost);
    agentContract(bench, onHost);
    boundsContract(bench, onHost);
    filesContract(bench, onHost);
    sessionContract(bench);
  });
}

function benchFor(tested: DriverUnderTest | undefined): () => SandboxBench {
  let bench: SandboxBench | undefined;
  beforeAll(async () => {
    if (tested !== undefined) bench = await sandboxBench(tested);
  });
  afterAll(() => bench?.[Symbol.asyncDispose]());
  return () => {
    if (bench === undefined) throw new Error("the bench is not ready");
    return bench;
  };
}
