import type { SessionSpec } from "../port.ts";

/** A sandbox that is to be found in the cluster. */
export interface AcquiredSession {
  readonly sessionId: string;
  readonly owner: string;
  /** Whether it has ended, or is past its time, so that only what is written of it is left. */
  readonly isOver: boolean;
}

/** A verb on a resource, as roles grant it. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** Where the pods of sessions come from. */
export interface SessionSource {
  readonly rights: readonly Right[];
  /** Whether each session has a user id of its own, by which the kernel counts its processes. */
  readonly hasOwnUser: boolean;
  /** Asks for a pod, and gives its name as soon as it is known. Throws a Failure. */
  acquire(sessionId: string, spec: SessionSpec, signal: AbortSignal): Promise<string>;
  /** Gives it back, with all that it stood on. One that is gone is no mistake. */
  release(sessionId: string, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<readonly AcquiredSession[]>;
}

export function rightsTo(group: string, resource: string, verbs: string): readonly Right[] {
  return verbs.split(" ").map((verb) => ({ group, resource, verb }));
}
