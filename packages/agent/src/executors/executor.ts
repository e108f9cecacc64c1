import type { ToolCatalog } from "@reeve/contracts/tool";

/** What a run can require of its executor, beyond models and tools that need no sandbox. */
export type Capability =
  | "threads"
  | "long_term_memory"
  | "collections"
  | "files"
  | "content_parts"
  | "cancel_on_disconnect"
  | "approvals"
  | "sandbox"
  | "saved_workflows";

/** What surrounds an executor, and adds to what it can do. */
export interface Surroundings {
  /** What the toolhosts offer. Undefined: not known yet, so that nothing is refused because they lack it. */
  readonly tools?: readonly ToolCatalog[];
  /** Whether somebody decides the approvals of runs in the calling process. Default: no. */
  readonly isDecided?: boolean;
}

/** What executes runs, as far as a request that starts a run has to know it. */
export interface Executor {
  readonly name: string;
  /** How its runs are started. Undefined when this version cannot start them. */
  readonly startedBy: string | undefined;
  /** Returns the capabilities that it lacks, each with what the caller can do about that. It has all others. */
  lacks(surroundings: Surroundings): Readonly<Partial<Record<Capability, string>>>;
}
