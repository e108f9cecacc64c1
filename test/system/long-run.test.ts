import { EventFamily, RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { expectCompleted, watchToEnd } from "./support/watching.ts";

const families = Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED);
const everything = { case: "families", value: { families } } as const;
/** The end event repeats the whole text: a batch as large as hundreds of earlier ones. */
const text = Array.from({ length: 2_500 }, (_, index) => `word${index}`).join(" ");

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(() => ({ text, paceMs: 1 }));
  deployment = await Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url });
  await deployment.start("gateway-2");
  await deployment.agent("writes", { model: "openai:played" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

test("a long run can be watched after its end from any sequence, at any gateway", async () => {
  const { reeve, second } = deployment;
  const { run } = await reeve.runs.startRun({ agentId: "writes", input: "Go on." });
  const runId = run?.runId ?? "";
  const events = await watchToEnd(deployment, runId);
  expectCompleted(events);
  // A slow machine stores several words in one event.
  expect(events.length).toBeGreaterThan(100);
  const all = events.map(({ sequence }) => sequence);
  const middle = Math.floor(all.length / 2);
  for (const gateway of [reeve, second]) {
    const got = await gateway.runs.getRun({ runId });
    expect(got.run?.status).toBe(RunStatus.COMPLETED);
    for (const after of [0, 1, middle, all.length - 12]) {
      const again: number[] = [];
      const asked = { runId, afterSequence: after, selection: everything };
      for await (const batch of gateway.runs.watchRun(asked)) {
        again.push(...batch.events.map(({ sequence }) => sequence));
      }
      expect(again).toEqual(all.slice(after));
    }
  }
});
