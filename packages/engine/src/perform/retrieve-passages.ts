import type { Passage } from "@reeve/contracts/extensions/knowledge";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated } from "@reeve/contracts/run";
import { maxRendered } from "@reeve/knowledge/render-passages";
import { Failure } from "@reeve/platform/failure";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns the passages of the collections of a run that match its input. Throws a Failure if its user may not read one of them any more,
 * or if this process has no collections: a run must not start without a part of what it was started with.
 */
export async function retrievePassages(
  { tenant, startedBy, input, collections }: RunCreated,
  { knowledge }: Pick<RunPorts, "knowledge">,
  signal: AbortSignal,
): Promise<readonly Passage[]> {
  if (collections.length === 0) return [];
  if (knowledge === undefined) throw noCollections();
  const query = { collectionIds: collections, query: input, limit: maxRendered };
  return await knowledge.search({ tenant, subject: startedBy }, query, signal);
}

export function noCollections(): Failure {
  const message =
    "this process has no collections; leave collections out, or start the run on a deployment";
  return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message);
}
