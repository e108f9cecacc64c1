import { useEffect, useMemo, useSyncExternalStore } from "react";
import { runs } from "../api/transport.ts";
import type { FeedParts, RunSnapshot } from "./run-feed.ts";
import { RunFeed } from "./run-feed.ts";

/** A hidden tab gives its connection back after this time: browsers open only six to a server. */
const hiddenMs = 30_000;

const parts: FeedParts = {
  open: (request, signal) => runs.watchRun(request, { signal }),
  schedule: (draw) => {
    if (document.hidden) setTimeout(draw, 1_000);
    else requestAnimationFrame(draw);
  },
  wait,
};

/** Follows a run as long as the component is shown, and the tab is visible. */
export function useRunFeed(runId: string): RunSnapshot {
  const feed = useMemo(() => new RunFeed(runId, parts), [runId]);
  useEffect(() => followWhileVisible(feed), [feed]);
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}

function followWhileVisible(feed: RunFeed): () => void {
  let leave: (() => void) | undefined = feed.follow();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onChange = () => {
    clearTimeout(timer);
    if (!document.hidden) leave ??= feed.follow();
    else {
      timer = setTimeout(() => {
        leave?.();
        leave = undefined;
      }, hiddenMs);
    }
  };
  document.addEventListener("visibilitychange", onChange);
  return () => {
    document.removeEventListener("visibilitychange", onChange);
    clearTimeout(timer);
    leave?.();
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
