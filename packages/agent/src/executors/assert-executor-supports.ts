import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";
import type { Executor, Surroundings } from "./executor.ts";
import type { ExecutorName } from "./executors.ts";
import { executors } from "./executors.ts";
import type { RunRequirements } from "./required-capabilities.ts";
import { requiredCapabilities } from "./required-capabilities.ts";

/**
 * Throws a Failure if the executor `here` cannot execute a run: because the run names another executor, or needs a capability that
 * `here` lacks in its surroundings. The Failure has a violation for each, so nothing is silently ignored.
 */
export function assertExecutorSupports(
  requirements: RunRequirements,
  here: ExecutorName,
  surroundings: Surroundings,
): void {
  const violations = [
    ...executorViolations(requirements, here),
    ...workflowViolations(requirements),
    ...missingCapabilities(requirements, here, surroundings),
  ];
  if (violations.length === 0) return;
  const list = violations.map(({ description }) => description).join("; ");
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, list, {
    violations,
    metadata: { executor: requirements.executor || here },
  });
}

function executorViolations(
  { executor = "" }: RunRequirements,
  here: ExecutorName,
): readonly Violation[] {
  if (executor === "" || executor === here) return [];
  const known: Executor | undefined = executors.find(({ name }) => name === executor);
  const problem =
    known === undefined
      ? `does not exist; the executors are ${executors.map(({ name }) => name).join(", ")}`
      : known.startedBy === undefined
        ? "is not available in this version"
        : `is not available here: its runs are started by ${known.startedBy}`;
  const description = `executor "${executor}" ${problem}; leave it out, or name "${here}"`;
  return [{ field: "executor", description, reason: unsupportedCapability }];
}

/** Returns violations of requests for what a workflow would ignore: its graph takes the text of the input. */
function workflowViolations({
  spec,
  parts = [],
  messages = [],
}: RunRequirements): readonly Violation[] {
  if (spec?.workflow === undefined) return [];
  const given = [
    ...(parts.length > 0 ? ["parts"] : []),
    ...(messages.length > 0 ? ["messages"] : []),
  ];
  return given.map((field) => ({
    field,
    description: `${field} would not reach the nodes of the workflow, which takes the text of the input; leave them out, or pass files`,
    reason: unsupportedCapability,
  }));
}

function missingCapabilities(
  requirements: RunRequirements,
  here: ExecutorName,
  surroundings: Surroundings,
): readonly Violation[] {
  const executor: Executor | undefined = executors.find(({ name }) => name === here);
  const lacking = executor?.lacks(surroundings) ?? {};
  return requiredCapabilities(requirements).flatMap(([capability, field]) => {
    const remedy = lacking[capability];
    if (remedy === undefined) return [];
    const description = `${field} needs ${capability}, which the executor "${here}" does not have here: ${remedy}`;
    return [{ field, description, reason: unsupportedCapability }];
  });
}
