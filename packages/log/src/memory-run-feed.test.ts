import { feedContract } from "../test/support/feed-contract.ts";
import { memoryRunLog } from "./memory-log.ts";
import { memoryRunFeed } from "./memory-run-feed.ts";

feedContract("in memory", async () => {
  const log = memoryRunLog();
  return { log, feed: memoryRunFeed(log) };
});
