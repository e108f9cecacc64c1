import type { CallJournal } from "@reeve/log/call-journal";
import type { Logger } from "@reeve/platform/logger";
import type { Workspace } from "@reeve/contracts/tool";
import type { Sandbox } from "../ports/sandbox.ts";
import type { Tool } from "./tool.ts";

/** Everything outside that a toolhost needs for its calls. */
export interface HostPorts {
  readonly journal: CallJournal;
  /** The tools of this host, by name. */
  tools(): ReadonlyMap<string, Tool>;
  /** The sandbox over a workspace, made ready with the files that its run was given. */
  sandbox(tenant: string, workspace: Workspace, signal: AbortSignal): Promise<Sandbox>;
  /** Ids of the calls that run here now. */
  readonly running: Set<string>;
  /** Name of this host, unique to the life of its process. */
  readonly host: string;
  /** How often a host says that it is alive, in milliseconds. */
  readonly heartbeatMs: number;
  readonly logger: Logger;
}
