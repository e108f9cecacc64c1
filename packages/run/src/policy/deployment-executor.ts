import type { ExecutorName } from "@reeve/agent/executors/executors";
import { natsExecutor } from "@reeve/agent/executors/nats";
import { temporalExecutor } from "@reeve/agent/executors/temporal";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Holders } from "./runtime-checks.ts";
import { runtimePrefix } from "./runtime-checks.ts";

/** The executors that a runtime can have. The first one is that of runtimes that name none. */
const deployable: readonly ExecutorName[] = [natsExecutor.name, temporalExecutor.name];

/**
 * Returns the executor of a deployment, which all of its runtimes have. Without any runtime, it is `nats`. Throws a Failure of kind
 * `precondition` while runtimes differ, because any of them may take the run, and one of kind `unavailable` if they are not known.
 */
export async function deploymentExecutor(
  holders: Holders,
  signal: AbortSignal,
): Promise<ExecutorName> {
  const rows = await holders.list("", signal);
  const runtimes = rows
    .map(({ record }) => record)
    .filter(({ holder }) => holder.startsWith(runtimePrefix));
  const names = new Set(runtimes.map(({ executor }) => executor || natsExecutor.name));
  if (names.size > 1) throw differing([...names].toSorted());
  const [name = natsExecutor.name] = names;
  return deployable.find((each) => each === name) ?? natsExecutor.name;
}

function differing(names: readonly string[]): Failure {
  return new Failure(
    "precondition",
    ErrorReason.RUNTIME_OUTDATED,
    `the runtimes have different executors (${names.join(", ")}), and any of them may take the run: leave executor out, or give all runtimes the same REEVE_EXECUTOR; one that was killed counts until its row in the bucket queue_holders expires, an hour at most`,
    { metadata: { executors: names.join(",") } },
  );
}
