import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll } from "vitest";
import { openRunLog } from "../src/log/open.ts";
import { openRunCatalog } from "../src/projection/nats-catalog.ts";
import { catalogContract } from "./support/catalog-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";

let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

catalogContract("over JetStream", async () => {
  const nats = await bench.connect();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  return { log: await openRunLog(nats), catalog: await openRunCatalog(nats) };
});
