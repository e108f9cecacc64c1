import { bucketOf } from "@reeve/contracts/channel";
import { AgentSchema } from "@reeve/contracts/agent";
import { jetstreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { openTable } from "../src/table/nats.ts";
import { agent, openAgentIndex } from "./support/list-contract.ts";
import { NatsBench, reconnected } from "./support/nats-bench.ts";

const stream = `KV_${bucketOf(AgentSchema).name}`;

test("a list follows a bucket that was deleted and created again", async ({ signal }) => {
  await using bench = await NatsBench.open(signal);
  const nats = await bench.connect();
  const { streams } = await jetstreamManager(nats.connection);
  const table = await openTable(nats, AgentSchema);
  const { names } = openAgentIndex(table);
  for (const letter of "abc") await table.put(`t.${letter}`, agent(letter), signal);
  expect(await names("t")).toBe("a b c");
  await streams.delete(stream);
  await openTable(nats, AgentSchema);
  await table.put("t.x", agent("x"), signal);
  expect(await names("t")).toBe("x");
});

test("a list is current although the last change was removed before it was read", async ({
  signal,
}) => {
  await using bench = await NatsBench.open(signal);
  const nats = await bench.connect();
  const { streams } = await jetstreamManager(nats.connection);
  const table = await openTable(nats, AgentSchema);
  await table.put("t.a", agent("a"), signal);
  const { revision } = await table.put("t.b", agent("b"), signal);
  await streams.deleteMessage(stream, revision);
  expect(await openAgentIndex(table).names("t")).toBe("a");
});

test("a list has what was written while its server was away", async ({ signal }) => {
  await using bench = await NatsBench.open(signal);
  const nats = await bench.connect();
  const table = await openTable(nats, AgentSchema);
  await table.put("t.a", agent("a"), signal);
  const { names } = openAgentIndex(table);
  expect(await names("t")).toBe("a");
  const again = reconnected(nats);
  await bench.kill();
  await bench.restart();
  await again;
  await table.put("t.b", agent("b"), signal);
  expect(await names("t")).toBe("a b");
});
