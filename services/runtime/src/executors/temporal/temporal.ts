import { temporalExecutor } from "@reeve/agent/executors/temporal";
import type { DeployedExecutor } from "../port.ts";
import { heartbeatsFor } from "./heartbeats.ts";
import { loadTemporalSdk } from "./sdk.ts";
import { TemporalRuns } from "./temporal-runs.ts";
import { connectionOptions } from "./worker-options.ts";

/** A workflow of Temporal for each run decides when a worker gets it. */
export const temporalCarrier: DeployedExecutor = {
  name: temporalExecutor.name,
  carry: async (config, ports) => {
    const sdk = loadTemporalSdk(config.REEVE_TEMPORAL_SDK);
    const options = {
      connection: connectionOptions(config),
      namespace: config.REEVE_TEMPORAL_NAMESPACE,
      taskQueue: config.REEVE_TEMPORAL_TASK_QUEUE,
      heartbeats: heartbeatsFor(config.REEVE_ACK_WAIT_MS),
      drainMs: config.REEVE_DRAIN_MS,
    };
    return new TemporalRuns(sdk, options, ports);
  },
};
