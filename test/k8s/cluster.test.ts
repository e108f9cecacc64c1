import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Reeve } from "../../cli/src/client.ts";
import { openReeve } from "../../cli/src/client.ts";
import { expectGapless } from "../system/support/watching.ts";
import type { OnCluster } from "./support/cluster.ts";
import { deployToCluster, restart, whyNoCluster } from "./support/cluster.ts";

const reason = whyNoCluster();
const scripts = join(import.meta.dirname, "../system/support/scripts");
/** The token of the overlay for development. */
const token = "dev-token-of-everybody";

describe.skipIf(reason !== undefined)(
  `on a cluster${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    let cluster: OnCluster;
    let reeve: Reeve;

    beforeAll(async () => {
      cluster = await deployToCluster(scripts);
      reeve = openReeve({ url: cluster.url, token });
      const spec = create(AgentSpecSchema, { id: "talk", name: "talk", model: "scripted:talk" });
      await reeve.agents.createAgent({ spec });
    }, 900_000);

    afterAll(async () => {
      reeve[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    }, 60_000);

    async function start(): Promise<string> {
      const { run } = await reeve.runs.startRun({ agentId: "talk", input: "talk" });
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
      expectGapless(await eventsOf(await start()));
    });

    test.each(["runtime", "toolhost", "approvals"])(
      "runs end while the pods of %s are replaced",
      { timeout: 600_000 },
      async (name) => {
        const runs = await Promise.all(Array.from({ length: 20 }, start));
        const watched = runs.map(eventsOf);
        await restart(name);
        for (const events of await Promise.all(watched)) expectGapless(events);
      },
    );
  },
);
