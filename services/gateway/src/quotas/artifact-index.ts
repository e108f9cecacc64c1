import { isStoredSkill } from "@reeve/agent/skills/skill";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/followed-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Table } from "@reeve/jetstream/table/port";
import { countedBytesOf } from "./artifact-quotas.ts";
import type { Owners } from "./quota.ts";

type ArtifactIndex = TableIndex<typeof ArtifactSchema, "created_by">;

const definition: IndexDefinition<Artifact, "created_by"> = {
  name: "artifacts",
  version: 3,
  orderOf: ({ artifactId }) => artifactId,
  direction: "ascending",
  kindOf: () => 0,
  kinds: [0],
  fields: { created_by: ({ createdBy }) => createdBy },
  measure: {
    at: () => 0,
    // A tenant can neither choose nor list the skills of the deployment.
    amount: (artifact) => (isStoredSkill(artifact) ? 0 : countedBytesOf(artifact.sizeBytes)),
  },
};

/** Opens an index of the sizes of artifacts. It follows them from its first read until `signal` aborts. */
export function openArtifactIndex(
  artifacts: Table<Artifact>,
  { folder, log }: IndexHome,
  signal: AbortSignal,
): ArtifactIndex {
  return new TableIndex(artifacts, { folder, log, schema: ArtifactSchema, definition }, signal);
}

/**
 * Returns how many bytes of artifacts a tenant, or some subjects of it, have: uploads, and what toolhosts stored. Has every artifact that
 * was stored before the call.
 */
export async function bytesOfArtifacts(
  index: ArtifactIndex,
  { tenant, subjects }: Owners,
  signal: AbortSignal,
): Promise<number> {
  const selections =
    subjects === undefined
      ? [{ tenant }]
      : [...subjects].map((subject) => ({ tenant, fields: { created_by: subject } }));
  return await index.read(
    tenant,
    (rows) => selections.reduce((sum, selection) => sum + rows.sum(selection, 0), 0),
    signal,
  );
}
