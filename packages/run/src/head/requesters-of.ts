import type { RunHead } from "./run-head.ts";
import { oldestFirst } from "./linked.ts";

/** Returns the people who started a run or those that it continues, and those who sent a message to it. */
export function requestersOf({
  created,
  messages,
}: Pick<RunHead, "created" | "messages">): ReadonlySet<string> {
  const { startedBy = "", earlierRequesters = [] } = created ?? {};
  const senders = oldestFirst(messages).map(({ submittedBy }) => submittedBy);
  const all = [startedBy, ...earlierRequesters, ...senders];
  return new Set(all.filter((subject) => subject !== ""));
}
