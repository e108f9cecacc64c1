import type { V1OwnerReference } from "@kubernetes/client-node";
import type { SessionSpec } from "../port.ts";

/** A session that exists in the cluster. */
export interface AcquiredSession {
  readonly sessionId: string;
  readonly owner: string;
  /** Whether the session has ended or passed its deadline, so only its object is left. */
  readonly isOver: boolean;
}

/** A verb on a resource, as in a Role. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

export interface SessionRequest {
  readonly sessionId: string;
  readonly spec: SessionSpec;
  /** The object of the toolhost that manages the session. */
  readonly controller: V1OwnerReference;
}

/** Supplies the pods of sessions. */
export interface SessionSource {
  readonly rights: readonly Right[];
  /** Whether each session has its own user id, by which the kernel counts its processes. */
  readonly hasOwnUser: boolean;
  /** Requests a pod and returns its name as soon as it is known. Throws a Failure. */
  acquire(request: SessionRequest, signal: AbortSignal): Promise<string>;
  /** Releases the pod of a session with its resources. A missing session is not an error. */
  release(sessionId: string, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<readonly AcquiredSession[]>;
}

/** Returns the rights to a resource for space-separated verbs. */
export function rightsTo(group: string, resource: string, verbs: string): readonly Right[] {
  return verbs.split(" ").map((verb) => ({ group, resource, verb }));
}
