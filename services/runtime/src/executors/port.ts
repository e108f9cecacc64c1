import type { ExecutorName } from "@reeve/agent/executors/executors";
import type { Dispatch } from "@reeve/contracts/run";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import type { RunTailReader } from "@reeve/jetstream/log/run-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import type { RuntimeConfig } from "../config.ts";

/** The ports of a runtime. */
export type RuntimePorts = RunPorts & {
  readonly dispatch: WorkQueue<Dispatch>;
  /** That a run does not exist, it says only when a gateway has confirmed it. */
  readonly logEnds: RunTailReader;
  /** What other runtimes know of the runs that an executor gave to this one, and this one of theirs. */
  readonly holder: Pick<QueueHolder, "carry" | "lostRuns">;
};

/** The runs that an executor gives to this worker. */
export type CarriedRuns = Pick<WorkQueue<Dispatch>, "take">;

/**
 * An executor of a deployment. It carries runs: it decides when a worker gets a run, and gives the run to another worker when that
 * one is silent. Every dispatch that is published leads to a delivery, unless a later one of the same run does.
 */
export interface DeployedExecutor {
  readonly name: ExecutorName;
  /** Returns the runs for this worker. Throws a Failure if the settings of the executor are invalid. Connects to nothing. */
  carry(config: RuntimeConfig, ports: RuntimePorts): Promise<CarriedRuns>;
}
