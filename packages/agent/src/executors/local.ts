import type { Capability, Executor } from "./executor.ts";
import { offersSandbox } from "./offered-tools.ts";

const elsewhere = "leave it out, or start the run on a deployment";

const lacking: Readonly<Partial<Record<Capability, string>>> = {
  threads: elsewhere,
  long_term_memory: elsewhere,
  collections: elsewhere,
  files: elsewhere,
  content_parts: elsewhere,
  cancel_on_disconnect: "leave it out: the signal of runAgent cancels the run",
  saved_workflows: "nothing is saved here; pass the agent of the workflow to runAgent",
};

/** The calling process. */
export const localExecutor = {
  name: "local",
  startedBy: "runAgent, in the calling process",
  lacks: ({ tools = [], isDecided = false }) => ({
    ...lacking,
    ...(isDecided ? {} : { approvals: "no one could decide; pass `decide` to runAgent" }),
    ...(offersSandbox(tools)
      ? {}
      : {
          sandbox: "pass `tools` of class execute, `workspaces`, and their `isolation` to runAgent",
        }),
  }),
} as const satisfies Executor;
