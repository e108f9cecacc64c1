import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, once a second. All components read the same value, so that they change together. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The number of the minute since the Unix epoch. */
export function useMinute(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / 60_000));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
