import { lacksOfDeployment } from "./deployed.ts";
import type { Executor } from "./executor.ts";

/** The workers of a deployment, which take runs from its queue. */
export const natsExecutor = {
  name: "nats",
  startedBy: "StartRun of a deployment",
  lacks: lacksOfDeployment,
} as const satisfies Executor;
