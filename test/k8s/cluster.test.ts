import { join } from "node:path";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent, RunEventKind } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { RetryingClient } from "../system/support/retrying-client.ts";
import { expectCompleted } from "../system/support/watching.ts";
import type { OnCluster } from "./support/cluster.ts";
import {
  deployToCluster,
  restart,
  sandboxPods,
  whyNoCluster,
  whyNoCode,
} from "./support/cluster.ts";

const reason = whyNoCluster();
const scripts = join(import.meta.dirname, "../system/support/scripts");
/** The number of clients. Each has one run at a time. */
const load = 8;
/** The token of the overlay for development. */
const token = "dev-token-of-everybody";

describe.skipIf(reason !== undefined)(
  `on a cluster${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    let cluster: OnCluster;
    let reeve: Connection;

    beforeAll(async () => {
      cluster = await deployToCluster(scripts);
      reeve = openConnection({ address: cluster.url, token });
      for (const id of ["talk", "sleep", "steps"]) {
        const spec = create(AgentSpecSchema, {
          id,
          name: id,
          model: `scripted:${id}`,
          permissionClasses: ["execute"],
          deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
        });
        await reeve.agents.createAgent({ spec });
      }
    }, 900_000);

    afterAll(async () => {
      reeve[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    }, 60_000);

    async function start(agentId = "talk", input = "talk"): Promise<string> {
      const { run } = await reeve.runs.startRun({ agentId, input });
      return run?.runId ?? "";
    }

    /** Everything in the log of a run, to its end. */
    async function eventsOf(runId: string): Promise<readonly RunEvent[]> {
      const families = Object.values(EventFamily).filter(
        (family) => family !== EventFamily.UNSPECIFIED,
      );
      const selection = { case: "families", value: { families } } as const;
      const batches = await Array.fromAsync(reeve.runs.watchRun({ runId, selection }));
      return batches.flatMap(({ events }) => events);
    }

    test("a run ends and is watched without a gap", { timeout: 120_000 }, async () => {
      expectCompleted(await eventsOf(await start()));
    });

    test.skipIf(whyNoCode !== undefined)(
      `code runs in a pod of its own${whyNoCode === undefined ? "" : `: ${whyNoCode}`}`,
      { timeout: 300_000 },
      async () => {
        const watched = eventsOf(await start("sleep", "20"));
        await vi.waitFor(() => expect(sandboxPods()).toHaveLength(1), 120_000);
        const events = await watched;
        expectCompleted(events);
        expect(events.some(({ event }) => event.case === "toolResult")).toBe(true);
      },
    );

    // The pods of a runtime hand over the runs that are between two steps.
    test.each([
      ["gateway", 1],
      ["runtime", 2],
      ["toolhost", 1],
      ["approvals", 1],
    ] as const)(
      "runs that are at work while the pods of %s are replaced end without a gap",
      { timeout: 900_000 },
      async (name, minClaims) => {
        const isAtWork = Promise.withResolvers<void>();
        const over = new AbortController();
        // A toolhost is replaced while it executes calls, if it can.
        const work =
          name === "toolhost" && whyNoCode === undefined
            ? { agentId: "sleep", input: "3" }
            : { agentId: "steps" };
        const clients = Array.from(
          { length: load },
          (_, index) =>
            new RetryingClient({
              name: `${name}-${index}`,
              ...work,
              gateways: () => [reeve],
              onEvent: () => isAtWork.resolve(),
            }),
        );
        const running = Promise.all(clients.map((client) => client.runsUntil(over.signal)));
        await Promise.race([isAtWork.promise, running]);
        await restart(name).finally(() => over.abort());
        const runs = (await running).flat();
        for (const events of runs) expectCompleted(events);
        const claims = runs.map((events) => countOf(events, "runClaimed"));
        expect(Math.max(...claims)).toBeGreaterThanOrEqual(minClaims);
      },
    );
  },
);

function countOf(events: readonly RunEvent[], kind: RunEventKind): number {
  return events.filter(({ event }) => event.case === kind).length;
}
