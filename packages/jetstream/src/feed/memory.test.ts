import { feedContract } from "../../test/support/feed-contract.ts";
import { unreadableFeedContract } from "../../test/support/unreadable/unreadable-feed-contract.ts";
import { memoryRunFeed } from "./memory.ts";
import { memoryRunLog } from "../log/memory.ts";

feedContract("in memory", async () => {
  const log = memoryRunLog();
  return { log, feed: memoryRunFeed(log) };
});

unreadableFeedContract("in memory", () => {
  const locked = new Set<string>();
  const log = memoryRunLog();
  const isReadable = ({ tenant }: { readonly tenant: string }) => !locked.has(tenant);
  return Promise.resolve({
    log,
    feed: memoryRunFeed(log, { isReadable, retryMs: 10 }),
    lock: (tenant) => void locked.add(tenant),
    unlock: (tenant) => void locked.delete(tenant),
  });
});
