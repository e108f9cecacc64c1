import { MemorySchema } from "@reeve/contracts/memory";
import type { Memory } from "@reeve/contracts/memory";
import { openTable } from "@reeve/store/nats-table";
import type { Table } from "@reeve/store/table";
import { afterAll, beforeAll } from "vitest";
import type { NatsUnderTest } from "../../store/test/nats-under-test.ts";
import { startNatsUnderTest } from "../../store/test/nats-under-test.ts";
import { memoryContract } from "./memory-contract.ts";

let server: NatsUnderTest;
let table: Table<Memory>;

beforeAll(async () => {
  server = await startNatsUnderTest();
  table = await openTable(server.nats, MemorySchema);
});

afterAll(() => server[Symbol.asyncDispose]());

memoryContract("in JetStream", () => table);
