import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** The test files of each project that take the longest. Started last, one of them would run alone. */
const longest = [
  "test/unit/protocol/breakages.test.ts",
  "test/unit/protocol/protocol.test.ts",
  "packages/engine/src/verify/verify-run-log.test.ts",
  "test/system/install.test.ts",
  "test/integration/nats-cluster.test.ts",
  "test/adversarial/docker.test.ts",
  "test/system/full-store.test.ts",
  "test/integration/services.test.ts",
  "test/clients/clients.test.ts",
  "test/system/protocol.test.ts",
  "services/toolhost/test/pool-drain.test.ts",
  "test/system/rolling-restart.test.ts",
  "test/adversarial/bubblewrap.test.ts",
  "test/integration/compose.test.ts",
  "test/console/console.test.ts",
  "packages/jetstream/test/replicated-contracts.test.ts",
  "packages/jetstream/test/nats-log.test.ts",
  "test/system/toolhost-loss.test.ts",
  "test/system/demo.test.ts",
  "test/system/terminal.test.ts",
  "test/system/tenants.test.ts",
  "packages/sandbox/test/docker.test.ts",
  "test/system/hostile-clients.test.ts",
  "test/parity/parity.test.ts",
  "services/approvals/test/rebuilt-inbox.test.ts",
  "services/toolhost/test/workspace-loss.test.ts",
  "test/system/bound-content.test.ts",
  "packages/jetstream/test/replicated-absence.test.ts",
  "test/system/lost-messages.test.ts",
  "cli/test/rebuild.test.ts",
  "services/toolhost/test/pool-catalogs.test.ts",
];

/** Runs the longest test files first, and the others in the order of vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- not the method of an array
    const sorted: readonly TestSpecification[] = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
  return rank === -1 ? longest.length : rank;
}
