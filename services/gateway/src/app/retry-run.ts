import { createHash, randomInt } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { natsExecutor } from "@reeve/agent/executors/nats";
import { ErrorReason } from "@reeve/contracts/error";
import type { RetryRunRequest, RunCreated } from "@reeve/contracts/run";
import { OnBusy, RunCreatedSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { Credential, Principal } from "@reeve/platform/rpc/principal";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { retryOf } from "@reeve/engine/domain/retry/retry-of";
import { applyAll } from "@reeve/engine/domain/state/apply";
import { initialState } from "@reeve/engine/domain/state/run-state";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import { foldRun } from "@reeve/run/commands/fold-run";
import { cancelOutstandingCalls, cancelRun } from "@reeve/run/commands/cancel-run";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { isPrivateRun } from "@reeve/run/head/private-run";
import { newerVersion } from "@reeve/run/head/newer-version";
import type { RunHead } from "@reeve/run/head/run-head";
import { recordedFiles } from "@reeve/run/parts/recorded-files";
import { assertChecked, ignorableRules } from "@reeve/run/policy/runtime-checks";
import { isTerminal, statusName } from "@reeve/run/head/run-status";
import { isSameTool, offeredTools } from "./client-tools/offered-tools.ts";
import type { GatewayPorts } from "./gateway-ports.ts";
import { readableCollections } from "./knowledge/readable-collections.ts";
import { assertOwnMemories } from "./memories-of-others.ts";
import { runExists } from "./run-exists.ts";
import { runKeyOf, runNotFound } from "./read-run.ts";
import { createRun, knownRun } from "./runs/create-run.ts";
import { resolvable } from "./start-run.ts";

/**
 * The new run may have the id of an earlier one that was deleted, of which toolhosts still know unfinished calls. Its own calls
 * have numbers that none of those had: far above the sequence of any event, and chosen at random.
 */
const minCallOffset = 1_000_000;
const maxCallOffset = 1_000_000_000;

/**
 * Continues a run that failed in a new run, from its last good state. The new run is durable when this returns. Idempotent: a
 * repeated request returns the same new run. Throws a Failure of kind `precondition` if the run has not failed, its thread is
 * busy, or its agent needs a model or a tool that does not exist any more, and of kind `not_found` if it was deleted before the
 * new run began to work.
 */
export async function retryRun(
  ports: GatewayPorts,
  principal: Credential,
  { runId }: RetryRunRequest,
  signal: AbortSignal,
): Promise<RunHead> {
  const { tenant, subject, roles } = principal;
  const origin = runKeyOf(tenant, runId);
  const requestId = `retry:${runId}`;
  const requestHash = createHash("sha256").update(requestId).digest();
  const key = { tenant, run: retryIdOf(tenant, runId) };
  const known = await knownRun(ports, key, requestHash, signal);
  if (known !== undefined)
    return await unlessOriginDeleted(ports, principal, origin, known, signal);
  const { events } = await ports.log.read(origin, emptyTail, signal);
  const failed = await foldRun(events, signal);
  if (failed.created === undefined) throw runNotFound(runId);
  const { unknownEventSequence } = failed;
  if (unknownEventSequence > 0) throw newerVersion(`run ${runId}`, unknownEventSequence);
  if (failed.status !== RunStatus.ERROR) throw notFailed(failed);
  // The new run begins with the conversation, in which the memories are.
  assertOwnMemories(failed, subject, "retry it");
  ports.assertRoom();
  const state = await foldInSlices(initialState, events, applyAll, signal);
  const derived = retryOf(state, failed.created, events);
  const searching = { request: derived, spec: derived.spec, delegates: derived.delegates };
  const collections = await readableCollections(ports, principal, searching, signal);
  // The conversation may have passages of then.
  const collectionsRestricted = derived.collectionsRestricted || collections.collectionsRestricted;
  const created = create(RunCreatedSchema, {
    ...derived,
    ...collections,
    collectionsRestricted,
    offeredTools: await toolsOfRetry(
      ports,
      principal,
      { ...derived, collectionsRestricted },
      failed.created,
      signal,
    ),
    requestId,
    requestHash,
    callOffset: randomInt(minCallOffset, maxCallOffset),
    startedBy: subject,
    startedByRoles: [...roles],
    hasPolicy: ports.policy() !== undefined,
    traceparent: traceparentOf(),
  });
  const files = recordedFiles(created);
  const given = { executor: natsExecutor.name, fileBytes: 0, files };
  const { usesStoredModels } = resolvable(ports, created.spec, created, principal, given);
  const rules = ignorableRules(created.spec, { ...created, usesStoredModels });
  await assertChecked(ports.holders, rules, signal);
  // The new run waits for them in its workspace, and the worker that would withdraw them may be gone.
  await cancelOutstandingCalls(
    ports,
    origin,
    { ...failed, reason: "the run ended with an error" },
    signal,
  );
  const start = { created, onBusy: OnBusy.REJECT, key: { ...key, nonce: "" }, contents: [] };
  const run = await createRun(ports, start, signal);
  return await unlessOriginDeleted(ports, principal, origin, run, signal);
}

/**
 * Returns the new run. If it has not begun, and its origin was deleted meanwhile, perhaps with the files that it needs, cancels it
 * and throws a Failure of kind `not_found`.
 */
async function unlessOriginDeleted(
  ports: GatewayPorts,
  { tenant, subject }: Principal,
  origin: RunKey,
  run: RunHead,
  signal: AbortSignal,
): Promise<RunHead> {
  if (run.claim !== undefined || isTerminal(run.status)) return run;
  if (await runExists(ports, origin, signal)) return run;
  const reason = `run ${origin.run}, which it continues, was deleted`;
  const key = { tenant, run: run.runId };
  await cancelRun(ports, key, { requestedBy: subject, reason }, signal);
  throw runNotFound(origin.run);
}

/** A collection may have got readers since: others than the user then answer no calls, so the new run has only the tools of the user. */
async function toolsOfRetry(
  ports: GatewayPorts,
  principal: Principal,
  retry: Pick<RunCreated, "memoryEnabled" | "collectionsRestricted" | "offeredTools" | "threadId">,
  failed: RunCreated,
  signal: AbortSignal,
): Promise<RunCreated["offeredTools"]> {
  if (!isPrivateRun(retry) || isPrivateRun(failed) || retry.offeredTools.length === 0) {
    return retry.offeredTools;
  }
  const { threadId } = retry;
  const request = { clientTools: undefined, threadId, isPrivate: true };
  const own = await offeredTools(ports, principal, request, signal);
  return retry.offeredTools.filter((tool) => own.tools.some((each) => isSameTool(each, tool)));
}

function notFailed({ runId, status }: RunHead): Failure {
  const message = `run ${runId} has not failed: ${statusName(status)}; only a run that ended with an error is retried`;
  return new Failure("precondition", ErrorReason.RUN_NOT_FAILED, message, {
    metadata: { run_id: runId },
  });
}
