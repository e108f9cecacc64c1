import { ErrorReason } from "@reeve/contracts/error";
import type { Passage, Retrieval } from "@reeve/contracts/extensions/knowledge";
import type { RunCreated } from "@reeve/contracts/run";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import { maxRendered } from "@reeve/knowledge/render-passages";
import { Failure } from "@reeve/platform/failure";
import type { RunPorts } from "../ports/run-ports.ts";

/** What a run records of the passages with which it starts. */
interface Retrieved {
  readonly passages: Passage[];
  /** Undefined: the run has no collections. */
  readonly retrieval?: Retrieval;
}

/**
 * Returns the passages of the collections of a run that match its input. Throws a Failure if its user may not read one of them any more,
 * or if this process has no collections: a run must not start without a part of what it was started with.
 */
export async function retrievePassages(
  created: RunCreated,
  { knowledge }: Pick<RunPorts, "knowledge">,
  signal: AbortSignal,
): Promise<Retrieved> {
  const { collections, collectionsRestricted } = created;
  if (collections.length === 0) return { passages: [] };
  if (knowledge === undefined) throw noCollections();
  const query = {
    collectionIds: collections,
    query: textOf(created),
    limit: maxRendered,
    isShared: !collectionsRestricted,
  };
  const { passages, retrieval } = await knowledge.search(readerOf(created), query, signal);
  return { passages: [...passages], retrieval };
}

/** Returns what the user asks for: the input, and the text of its parts. */
function textOf({ input, parts }: RunCreated): string {
  const texts = parts.flatMap(({ part }) => (part.case === "text" ? part.value : []));
  return [input, ...texts].join("\n");
}

/** Returns the user of a run, as collections know it. */
export function readerOf({
  tenant,
  startedBy,
  readerGroups,
}: Pick<RunCreated, "tenant" | "startedBy" | "readerGroups">): KnowledgeUser {
  return { tenant, subject: startedBy, groups: new Set(readerGroups) };
}

export function noCollections(): Failure {
  const message =
    "this process has no collections; leave collections out, or start the run on a deployment";
  return new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, message);
}
