import type { Memory } from "@reeve/contracts/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { memoryContract } from "../test/memory-contract.ts";

const shared = new MemoryTable<Memory>();

memoryContract("in memory", () => shared);
