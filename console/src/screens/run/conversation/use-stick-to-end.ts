import type { RefObject } from "react";
import { useEffect, useRef } from "react";

/** How far from the end a person still follows, in pixels. */
const slack = 160;

/** Keeps the end in view while new content arrives, unless the person has scrolled up. */
export function useStickToEnd(version: number, isLive: boolean): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
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
    if (version > 0 && isLive && isAtEnd.current) end.current?.scrollIntoView({ block: "end" });
  }, [version, isLive]);
  return end;
}
