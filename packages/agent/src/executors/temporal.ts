import { lacksOfDeployment } from "./deployed.ts";
import type { Executor } from "./executor.ts";

/** The workers of a deployment, to which Temporal gives the runs. */
export const temporalExecutor = {
  name: "temporal",
  startedBy: "StartRun of a deployment whose runtimes have REEVE_EXECUTOR=temporal",
  lacks: lacksOfDeployment,
} as const satisfies Executor;
