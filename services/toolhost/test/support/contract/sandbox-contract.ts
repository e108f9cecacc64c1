import { afterAll, beforeAll, describe } from "vitest";
import { agentContract } from "./agent-contract.ts";
import { boundsContract } from "./bounds-contract.ts";
import { commandContract } from "./command-contract.ts";
import { filesContract } from "./files-contract.ts";
import { isolationContract } from "./isolation-contract.ts";
import type { Contender, SandboxBench } from "./sandbox-bench.ts";
import { sandboxBench } from "./sandbox-bench.ts";
import { sessionContract } from "./session-contract.ts";

/** What every driver that isolates promises. Without a contender its tests are skipped, and `why` is in their names. */
export function sandboxContract(name: string, contender: Contender | undefined, why = ""): void {
  describe.skipIf(contender === undefined)(`a ${name} sandbox${why}`, () => {
    let bench: SandboxBench | undefined;
    beforeAll(async () => {
      if (contender !== undefined) bench = await sandboxBench(contender);
    });
    afterAll(() => bench?.[Symbol.asyncDispose]());
    const given = () => {
      if (bench === undefined) throw new Error("the bench is not ready");
      return bench;
    };
    commandContract(given);
    isolationContract(given, contender?.hidden ?? []);
    agentContract(given);
    boundsContract(given);
    filesContract(given);
    sessionContract(given);
  });
}
