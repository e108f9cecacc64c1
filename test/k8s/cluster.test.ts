import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
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
      for (const id of ["talk", "sleep"]) {
        const permissionClasses = ["execute"];
        const spec = create(AgentSpecSchema, {
          id,
          name: id,
          model: `scripted:${id}`,
          permissionClasses,
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

    test.each(["runtime", "toolhost", "approvals"])(
      "runs end while the pods of %s are replaced",
      { timeout: 600_000 },
      async (name) => {
        const runs = await Promise.all(Array.from({ length: 20 }, () => start()));
        const watched = runs.map(eventsOf);
        await restart(name);
        for (const events of await Promise.all(watched)) expectCompleted(events);
      },
    );
  },
);
