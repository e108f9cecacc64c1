import type { Agent } from "@reeve/contracts/agent";
import { historyContract } from "../../test/support/history/history-contract.ts";
import { tableContract } from "../../test/support/table-contract.ts";
import { MemoryTable } from "./memory.ts";

const table = new MemoryTable<Agent>();
tableContract("memory", () => table);
historyContract("memory", () => table);
