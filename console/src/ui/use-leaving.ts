import { useCallback, useEffect, useRef } from "react";

/** Returns a signal that aborts when the component is no longer shown, for work that would go on without anyone to see it. */
export function useLeaving(): () => AbortSignal {
  const shown = useRef<AbortController>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    shown.current = leaving;
    return () => leaving.abort();
  }, []);
  return useCallback(() => shown.current?.signal ?? AbortSignal.abort(), []);
}
