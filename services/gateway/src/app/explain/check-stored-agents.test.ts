import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { createAgent } from "../agents.ts";
import { checkStoredAgents, watchStoredAgents } from "./check-stored-agents.ts";

const never = new AbortController().signal;

async function withAgents(...ids: readonly string[]) {
  const ports = memoryPorts();
  for (const id of ids) {
    const spec = create(AgentSpecSchema, { id, name: id, model: "known" });
    await createAgent(ports, { tenant: "acme", subject: "ann" }, { spec, shape: [] }, never);
  }
  return ports;
}

function recorder() {
  const warnings: object[] = [];
  return { warnings, log: { warn: (fields: object) => void warnings.push(fields) } };
}

const other = create(ModelCatalogSchema, { providers: [{ name: "openai" }] });

// Requirement: RES-12
test("an agent whose model was removed is named with the reason, before a run is refused", async () => {
  const ports = await withAgents("reader", "writer");
  const { warnings, log } = recorder();
  await checkStoredAgents(ports, log, never);
  expect(warnings).toEqual([]);
  const offer = () => ({ ...ports.offer(), models: other });
  await checkStoredAgents({ ...ports, offer }, log, never);
  expect(warnings).toMatchObject([
    { tenant: "acme", agentId: "reader", revision: 1 },
    { tenant: "acme", agentId: "writer", problems: [expect.stringContaining('model "known"')] },
  ]);
});

test("agents are checked again when the catalog has changed, and only then", async () => {
  const ports = await withAgents("reader");
  const end = new AbortController();
  const { models: known } = ports.offer();
  const catalogs = [known, known, known, other, other, other, other];
  const { warnings, log } = recorder();
  const changing = {
    ...ports,
    offer: () => {
      const models = catalogs.shift();
      if (models !== undefined) return { ...ports.offer(), models };
      end.abort();
      return { ...ports.offer(), models: other };
    },
  };
  const ended = await watchStoredAgents(changing, log, end.signal, 0).catch(
    (error: unknown) => error,
  );
  expect(ended).toBe(end.signal.reason);
  expect(warnings).toHaveLength(1);
});

test("requests are answered between the checks of two agents", async () => {
  const ids = ["a1", "a2", "a3", "a4", "a5"];
  const ports = await withAgents(...ids);
  const checked: string[] = [];
  const order: string[] = [];
  const offer = () => {
    checked.push("agent");
    return { ...ports.offer(), models: other };
  };
  const turn = () => {
    order.push(`request after ${checked.length}`);
    if (checked.length < ids.length) immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  await checkStoredAgents({ ...ports, offer }, recorder().log, never);
  clearImmediate(immediate);
  expect(order).toEqual(
    expect.arrayContaining(ids.slice(1).map((_, n) => `request after ${n + 1}`)),
  );
});
