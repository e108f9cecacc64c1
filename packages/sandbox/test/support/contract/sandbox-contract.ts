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

/** What is promised even without isolation. */
export function commandsContract(name: string, contender: DriverUnderTest): void {
  describe(`a ${name} sandbox`, () => {
    const given = benchFor(contender);
    commandContract(given);
    filesContract(given);
    sessionContract(given);
  });
}

/** What is promised where nothing but our own programs over files runs. */
export function filesOnlyContract(name: string, contender: DriverUnderTest): void {
  describe(`${name}, instead of a sandbox`, () => {
    filesContract(benchFor(contender));
  });
}

/** What every driver that isolates promises. Without a contender its tests are skipped, and `why` is in their names. */
export function sandboxContract(
  name: string,
  contender: DriverUnderTest | undefined,
  why = "",
): void {
  describe.skipIf(contender === undefined)(`a ${name} sandbox${why}`, () => {
    const given = benchFor(contender);
    commandContract(given);
    isolationContract(given, contender?.hidden ?? []);
    agentContract(given);
    describe("with a proxy", () => {
      networkContracts(given);
    });
    boundsContract(given);
    filesContract(given);
    sessionContract(given);
  });
}

function networkContracts(given: () => SandboxBench): void {
  let network: NetworkBench | undefined;
  beforeAll(async () => {
    network = await networkBench(given());
  });
  afterAll(() => network?.[Symbol.asyncDispose]());
  const ready = () => {
    if (network === undefined) throw new Error("the network is not ready");
    return network;
  };
  networkContract(given, ready);
  networkBoundsContract(ready);
}

/**
 * What every driver promises whose sandboxes keep their workspaces to themselves. What needs the workspace on the host is
 * skipped; what sandboxes isolate is the cluster's.
 */
export function sessionWorkspaceContract(
  name: string,
  contender: DriverUnderTest | undefined,
  why = "",
): void {
  describe.skipIf(contender === undefined)(`a ${name} sandbox${why}`, () => {
    const given = benchFor(contender);
    const onHost = test.skip;
    commandContract(given, onHost);
    agentContract(given, onHost);
    boundsContract(given, onHost);
    filesContract(given, onHost);
    sessionContract(given);
  });
}

function benchFor(contender: DriverUnderTest | undefined): () => SandboxBench {
  let bench: SandboxBench | undefined;
  beforeAll(async () => {
    if (contender !== undefined) bench = await sandboxBench(contender);
  });
  afterAll(() => bench?.[Symbol.asyncDispose]());
  return () => {
    if (bench === undefined) throw new Error("the bench is not ready");
    return bench;
  };
}
