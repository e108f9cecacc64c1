import { natsExecutor } from "@reeve/agent/executors/nats";
import { temporalExecutor } from "@reeve/agent/executors/temporal";
import { z } from "zod";
import { temporalSettings } from "./temporal/settings.ts";

/** The settings of the executors. */
export const executorSettings = {
  /** What gives runs to this worker: `nats`, the queue of the deployment, or `temporal`. Use the same value in all runtimes. */
  REEVE_EXECUTOR: z.enum([natsExecutor.name, temporalExecutor.name]).default(natsExecutor.name),
  ...temporalSettings,
};
