import type { Sandbox } from "../port.ts";

/** Where the workspaces of this host lie, each in a folder of its tenant. */
export interface WorkspaceStorage {
  /** Names the place for ever. Hosts that see the same folders know it by the same name. */
  readonly id: string;
  /** Name of the isolation of its sandboxes. */
  readonly isolation: string;
  /** How long a saved workspace may stay unused, in milliseconds, where that costs more than disk. Absent: as is set. */
  readonly idleMs?: number;
  has(tenant: string, folder: string): boolean;
  /** Whether a folder is known to hold nothing. No sandbox is needed to tell. */
  isEmpty(tenant: string, folder: string): Promise<boolean>;
  /** The sandbox over a folder, which is made when it is missing. Nothing runs yet. */
  sandbox(tenant: string, folder: string): Sandbox;
  /** Takes a folder away with all that is in it, and ends the sandboxes over it. One that is not there is no mistake. */
  remove(tenant: string, folder: string, signal: AbortSignal): Promise<void>;
  /** The folders that there are, whoever made them. */
  list(): Promise<readonly StoredWorkspace[]>;
}

export interface StoredWorkspace {
  readonly tenant: string;
  readonly folder: string;
  /** When it was made, or something in it last came or went, in milliseconds since 1970. */
  readonly changedMs: number;
}
