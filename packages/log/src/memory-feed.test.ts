import { feedContract } from "../test/support/feed-contract.ts";
import { memoryRunFeed } from "./memory-feed.ts";
import { memoryRunLog } from "./memory-log.ts";

feedContract("in memory", async () => {
  const log = memoryRunLog();
  return { log, feed: memoryRunFeed(log) };
});
