import { openAuditTrail } from "@reeve/jetstream/audit/nats";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import { expect, onTestFinished, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent, specOf, unknownRun } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

async function open(mode: string): Promise<BenchWithAgent> {
  const bench = await openBenchWithAgent({ REEVE_AUDIT: mode });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return bench;
}

/** Takes the trail away. The gateway notices it at the next event. */
async function loseTrail({ nats, acme }: BenchWithAgent): Promise<void> {
  const { streams } = await openJetStreamManager(nats.connection);
  await streams.delete("AUDIT");
  await refusalOf(acme.runs.watchRun({ runId: unknownRun }));
}

const agentIds = async ({ acme }: BenchWithAgent) =>
  (await acme.agents.listAgents({})).agents.map(({ spec }) => spec?.id);

test("while a required trail cannot be written, a change is refused before it has an effect", async () => {
  const bench = await open("required");
  await loseTrail(bench);
  const create = (id = "another") => bench.acme.agents.createAgent({ spec: specOf(id) });
  const refusal = async (id: string) => (await refusalOf(create(id))).message;
  const refused = "REEVE_AUDIT=required refuses changes";
  // A busy gateway may accept changes until it knows that the trail is lost.
  await expect.poll(() => refusal("earlier")).toContain(refused);
  expect(await refusal("another")).toContain(refused);
  expect(await agentIds(bench)).not.toContain("another");
  await openAuditTrail(bench.nats);
  const created = async () => (await create()).agent?.revision;
  await expect.poll(() => created().catch(() => 0)).toBe(1);
  const listed = async () => {
    const { events } = await bench.acme.audit.listAuditEvents({ resourceId: "another" });
    return events.map(({ code }) => code);
  };
  expect(await listed()).toContain("OK");
});

test("while a trail that is not required cannot be written, changes are accepted and recorded later", async () => {
  const bench = await open("best-effort");
  await loseTrail(bench);
  await bench.acme.agents.createAgent({ spec: specOf("another") });
  expect(await agentIds(bench)).toContain("another");
  await openAuditTrail(bench.nats);
  const listed = async () => {
    const { events } = await bench.acme.audit.listAuditEvents({ resourceId: "another" });
    return events.map(({ action, code }) => `${action} ${code}`);
  };
  await expect.poll(listed).toEqual(["agent.create OK"]);
});

test("without a trail, nothing is recorded", async () => {
  const bench = await open("off");
  await bench.acme.agents.createAgent({ spec: specOf("another") });
  const listed = async () => (await bench.acme.audit.listAuditEvents({})).events;
  await expect.poll(listed).toEqual([]);
});
