import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";
import { collectionTextBucket } from "@reeve/jetstream/objects/collection-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openTable } from "@reeve/jetstream/table/nats";
import type { NatsUnderTest } from "@reeve/jetstream/test/nats-under-test";
import { startNatsUnderTest } from "@reeve/jetstream/test/nats-under-test";
import { afterAll, beforeAll } from "vitest";
import type { KnowledgeStores } from "../src/collections.ts";
import { knowledgeContract } from "./knowledge-contract.ts";

let server: NatsUnderTest;
let stores: KnowledgeStores;

beforeAll(async () => {
  server = await startNatsUnderTest();
  const { nats } = server;
  stores = {
    table: await openTable(nats, CollectionRecordSchema),
    objects: await openObjects(nats, { bucket: collectionTextBucket, maxBytes: 1_000_000 }),
  };
});

afterAll(() => server[Symbol.asyncDispose]());

knowledgeContract("in JetStream", () => stores);
