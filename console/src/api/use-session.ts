import { useSyncExternalStore } from "react";
import type { Session } from "./session.ts";
import { currentSession, onSessionChange } from "./session.ts";

export function useSession(): Session {
  return useSyncExternalStore(onSessionChange, currentSession);
}
