import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openRunLog } from "../src/log/open.ts";
import { feedContract } from "./support/feed-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";

let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

feedContract("over JetStream", async () => {
  const nats = await bench.connect();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  return { log: await openRunLog(nats), feed: await openRunFeed(nats, { ackWaitMs: 300 }) };
});
