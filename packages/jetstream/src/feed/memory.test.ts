import { feedContract } from "../../test/support/feed-contract.ts";
import { memoryRunFeed } from "./memory.ts";
import { memoryRunLog } from "../log/memory.ts";

feedContract("in memory", async () => {
  const log = memoryRunLog();
  return { log, feed: memoryRunFeed(log) };
});
