import { useEffect, useMemo, useSyncExternalStore } from "react";
import { runs } from "../../api/transport.ts";
import { wait } from "../../api/wait.ts";
import { begunWatch } from "./begin-watch.ts";
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
  rest,
  drawn,
};

/** How long events are folded before the browser may draw: half of a frame. */
const maxWorkMs = 8;
let restedAtMs = 0;

/** Many messages of a stream arrive at once; without a rest, the browser would draw after the last one. */
async function rest(): Promise<void> {
  if (performance.now() - restedAtMs < maxWorkMs) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // A task of its own. Frames and input come first; timers would wait longer than needed.
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    port1.close();
    resolve();
  });
  port1.start();
  port2.postMessage(undefined);
  await promise;
  restedAtMs = performance.now();
}

/** For how long a frame is waited for: a tab in the background draws none. */
const maxFrameMs = 250;

async function drawn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxFrameMs);
  // The frame after the next one begins when the next one is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  await promise;
  clearTimeout(timer);
}

/** Follows a run as long as the component is shown, and the tab is visible. */
export function useRunFeed(runId: string): RunSnapshot {
  const feed = useMemo(() => new RunFeed(runId, parts, begunWatch(runId)), [runId]);
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
