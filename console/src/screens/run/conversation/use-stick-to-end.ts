import type { RefObject } from "react";
import { useEffect, useRef } from "react";

/** How far from the end a person still follows, in pixels. */
const slack = 160;

/** An event of this age is not part of what the run does now. */
const maxLiveAgeMs = 5_000;
/** After this time without an event, the history of the run has arrived. */
const idleMs = 300;

interface Followed {
  /** Changes with every event. */
  readonly version: number;
  /** Whether the run may go on. */
  readonly isLive: boolean;
  /** Time of the newest event. */
  readonly newestMs: number | undefined;
}

/**
 * Keeps the end in view while new content arrives, unless the person has scrolled up. The history of a run is not followed: it may be
 * that of a run that has ended, which is read from its start.
 */
export function useStickToEnd({
  version,
  isLive,
  newestMs = 0,
}: Followed): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const isCaughtUp = useRef(false);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < slack;
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => {
    // A run without an event has nothing to scroll to.
    if (version === 0 || !isLive) return undefined;
    const follow = () => {
      isCaughtUp.current = true;
      if (isAtEnd.current) end.current?.scrollIntoView({ block: "end" });
    };
    if (isCaughtUp.current || Date.now() - newestMs < maxLiveAgeMs) {
      follow();
      return undefined;
    }
    // It began at its start, so what arrives next does not mean that the person has scrolled up.
    const timer = setTimeout(() => {
      isAtEnd.current = true;
      follow();
    }, idleMs);
    return () => clearTimeout(timer);
  }, [version, isLive, newestMs]);
  return end;
}
