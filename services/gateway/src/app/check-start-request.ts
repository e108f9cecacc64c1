import { assertExecutorSupports } from "@reeve/agent/executors/assert-executor-supports";
import type { ExecutorName } from "@reeve/agent/executors/executors";
import { natsExecutor } from "@reeve/agent/executors/nats";
import type { GivenFile } from "@reeve/agent/resolve/assert-reads";
import type { Artifact } from "@reeve/contracts/artifact";
import type { StartRunRequest } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import type { Violation } from "@reeve/platform/failure";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import { deploymentExecutor } from "@reeve/run/policy/deployment-executor";
import { startViolations } from "@reeve/run/commands/start-violations";
import type { GatewayPorts } from "./gateway-ports.ts";
import type { CheckedParts, PartsKey } from "./parts/check-parts.ts";
import { checkParts } from "./parts/check-parts.ts";

/** A request to start a run that is valid. */
export interface CheckedStart {
  /** The executor of the run. */
  readonly executor: ExecutorName;
  /** The total size of the files for the workspace. */
  readonly fileBytes: number;
  /** The parts of the input, and of each message, as the log records them. */
  readonly input: CheckedParts;
  readonly messages: readonly CheckedParts[];
  /** The files among all parts. */
  readonly files: readonly GivenFile[];
}

/** Throws a Failure for a request that this version does not support, or that is invalid. Lists all violations. */
export async function checkStartRequest(
  { artifacts, holders }: Pick<GatewayPorts, "artifacts" | "holders">,
  key: PartsKey,
  request: StartRunRequest,
  signal: AbortSignal,
): Promise<CheckedStart> {
  // Those of a deployment differ in nothing else, so only a request that names one has to know which it is.
  const executor =
    request.executor === "" ? natsExecutor.name : await deploymentExecutor(holders, signal);
  // Files always pass here: whether a toolhost offers workspaces is checked later, and only for a new run.
  assertExecutorSupports(request, executor, {});
  const artifactsOf = await Promise.all(
    request.files.map(({ artifactId }) => artifacts.get(key.tenant, artifactId, signal)),
  );
  const count = [...request.messages, request].flatMap(({ parts }) => parts).length;
  if (count > maxParts) throw invalidRequest([tooManyParts(count)]);
  const input = await checkParts(artifacts, key, { field: "parts", parts: request.parts }, signal);
  const messages: CheckedParts[] = [];
  for (const [index, { parts }] of request.messages.entries()) {
    const field = `messages[${index}].parts`;
    messages.push(await checkParts(artifacts, key, { field, parts }, signal));
  }
  const violations = [
    ...startViolations(request),
    ...missingArtifacts(request, artifactsOf),
    ...[input, ...messages].flatMap((checked) => checked.violations),
    ...partsOfAssistant(request),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  const fileBytes = artifactsOf.reduce((sum, each) => sum + (each?.sizeBytes ?? 0), 0);
  const files = [input, ...messages].flatMap((checked) => checked.files);
  return { executor, fileBytes, input, messages, files };
}

/** How many parts the input and the messages have together: each file is read before the run starts. */
const maxParts = 50;

function tooManyParts(count: number): Violation {
  const description = `the input and the messages have ${count} parts in total; the limit is ${maxParts}; send fewer`;
  return { field: "messages", description, reason: "TOO_MANY_ENTRIES" };
}

function partsOfAssistant({ messages }: StartRunRequest): readonly Violation[] {
  return messages.flatMap(({ role, parts }, index) =>
    parts.length > 0 && role !== Role.USER
      ? [
          {
            field: `messages[${index}].parts`,
            description: "is only valid in messages of the user",
            reason: "CONTRADICTION",
          },
        ]
      : [],
  );
}

function missingArtifacts(
  { files }: StartRunRequest,
  found: readonly (Artifact | undefined)[],
): readonly Violation[] {
  return found.flatMap((artifact, index) =>
    artifact === undefined
      ? [
          {
            field: `files[${index}].artifact_id`,
            description: `artifact ${files[index]?.artifactId ?? ""} not found; upload it first`,
            reason: "NOT_FOUND",
          },
        ]
      : [],
  );
}
