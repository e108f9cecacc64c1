import type { Sandbox } from "../port.ts";

/** Stores the workspaces of this host, each in a folder of its tenant. */
export interface WorkspaceStorage {
  /** Permanent name of the storage. Hosts that share the folders see the same name. */
  readonly id: string;
  /** Isolation of its sandboxes, as `SandboxDriver.name`. */
  readonly isolation: string;
  /** How long an unused, saved workspace is kept if it costs more than disk. Default: the setting of the toolhost. */
  readonly idleMs?: number;
  has(tenant: string, folder: string): boolean;
  /** Returns whether a folder is known to be empty. Starts no sandbox. */
  isEmpty(tenant: string, folder: string): Promise<boolean>;
  /** Returns a sandbox whose workspace is a folder, and creates the folder if it is missing. Starts no process yet. */
  sandbox(tenant: string, folder: string): Sandbox;
  /** Deletes a folder with its content and ends the sandboxes that use it. A missing folder is not an error. */
  remove(tenant: string, folder: string, signal: AbortSignal): Promise<void>;
  /** Returns all folders, including those that other toolhosts created. */
  list(): Promise<readonly StoredWorkspace[]>;
}

export interface StoredWorkspace {
  readonly tenant: string;
  readonly folder: string;
  /** When the folder was created or an entry in it last added or removed, in milliseconds since 1970. */
  readonly changedMs: number;
}
