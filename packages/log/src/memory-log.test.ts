import { logContract } from "../test/support/log-contract.ts";
import { memoryRunLog } from "./memory-log.ts";

const log = memoryRunLog();

logContract("in memory", () => [log, log]);
