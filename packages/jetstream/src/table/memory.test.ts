import type { Agent } from "@reeve/contracts/agent";
import { tableContract } from "../../test/support/table-contract.ts";
import { MemoryTable } from "./memory.ts";

const table = new MemoryTable<Agent>();
tableContract("memory", () => table);
