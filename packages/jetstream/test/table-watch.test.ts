import { create } from "@bufbuild/protobuf";
import type { StreamAPI, ConsumerAPI } from "@nats-io/jetstream";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { AgentSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { openTable } from "../src/table/nats.ts";
import { NatsBench } from "./support/nats-bench.ts";

const agent = create(AgentSchema, { spec: { name: "a" } });

interface Stored {
  readonly streams: StreamAPI;
  readonly consumers: ConsumerAPI;
}

/** Opens a table with one row, and returns the kinds of the changes of a watch until it is current. */
async function watchUntilCurrent(
  spoil: (stored: Stored, consumer: string) => Promise<unknown>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using bench = await NatsBench.open(signal);
  const { connection } = await bench.connect();
  const stored = await jetstreamManager(connection);
  const first = spoilingFirstConsumer(connection, (consumer) => spoil(stored, consumer));
  const table = await openTable({ connection: first }, AgentSchema);
  await table.put("t.a", agent, signal);
  const kinds: string[] = [];
  for await (const { kind } of table.watch("", signal)) {
    kinds.push(kind);
    if (kind === "current") break;
  }
  return kinds;
}

/** Returns a connection that runs `spoil` once: when the server has created a consumer, which has sent nothing yet. */
function spoilingFirstConsumer(
  connection: NatsConnection,
  spoil: (consumer: string) => Promise<unknown>,
): NatsConnection {
  let isSpoilt = false;
  const request: NatsConnection["request"] = async (subject, ...args) => {
    const reply = await connection.request(subject, ...args);
    const [, consumer] = /\.CONSUMER\.CREATE\.[^.]+\.([^.]+)/.exec(subject) ?? [];
    if (consumer !== undefined && !isSpoilt) {
      isSpoilt = true;
      await spoil(consumer);
    }
    return reply;
  };
  return new Proxy(connection, {
    get: (target, name) => {
      if (name === "request") return request;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

function removeConsumer({ consumers }: Stored, name: string): Promise<unknown> {
  return consumers.delete("KV_agents", name);
}

function expire({ streams }: Stored): Promise<unknown> {
  return streams.purge("KV_agents");
}

test("a watch to which the server sends nothing is opened again", async ({ signal }) => {
  expect(await watchUntilCurrent(removeConsumer, signal)).toEqual(["written", "current"]);
});

test("a watch is current although the last row expired while it was opened", async ({ signal }) => {
  expect(await watchUntilCurrent(expire, signal)).toEqual(["current"]);
});
