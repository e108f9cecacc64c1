import type { Memory } from "@reeve/contracts/memory";
import { MemoryTable } from "@reeve/store/memory-table";
import { memoryContract } from "../test/memory-contract.ts";

const shared = new MemoryTable<Memory>();

memoryContract("in memory", () => shared);
