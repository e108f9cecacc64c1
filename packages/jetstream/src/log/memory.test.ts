import { runLogKind, threadLogKind } from "../../test/support/facts.ts";
import { logContract } from "../../test/support/log-contract.ts";
import { partsContract } from "../../test/support/parts-contract.ts";
import { removalContract } from "../../test/support/removal-contract.ts";
import { memoryRunLog, memoryThreadLog } from "./memory.ts";

const runs = memoryRunLog();
const threads = memoryThreadLog();

logContract("of a run, in memory", runLogKind, () => [runs, runs]);
removalContract("in memory", runLogKind, () => [runs, runs]);
logContract("of a thread, in memory", threadLogKind, () => [threads, threads]);
partsContract("in memory", threadLogKind, () => threads);
