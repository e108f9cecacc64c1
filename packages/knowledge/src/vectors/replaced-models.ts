import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { StoredVectors } from "@reeve/contracts/extensions/knowledge";

/** Embeddings of another model that are younger than this stay: during a rollout, gateways with both models run. */
const minAgeMs = 3_600_000;
/** As long stay those of a model that has replaced the model of this process before, and twice as long after each further time. */
const minAgeOfSuccessorMs = 24 * 3_600_000;
const maxNames = 16;

/** What a process embeds with. `dimensions` is undefined until its model has answered. */
export interface EmbeddingModel {
  readonly model: string;
  readonly dimensions: number | undefined;
}

/**
 * Returns whether embeddings are those of another model, and how long they stay. A model that comes back takes ever longer, so that
 * gateways whose settings differ do not replace the embeddings of each other without end. Undefined: they are of this model.
 */
export function ageToReplace(vectors: StoredVectors, own: EmbeddingModel): number | undefined {
  const isSame = own.dimensions === undefined || vectors.dimensions === own.dimensions;
  if (vectors.model === own.model && isSame) return undefined;
  const times = vectors.replacedModels.filter((name) => isNameOf(name, own)).length;
  return times === 0 ? minAgeMs : minAgeOfSuccessorMs * 2 ** (times - 1);
}

/** Returns how long ago embeddings were made. */
export function ageOf({ embeddedAt }: StoredVectors, nowMs: number): number {
  return embeddedAt === undefined ? Infinity : nowMs - timestampMs(embeddedAt);
}

/** Returns the names of the models that embeddings replace which follow others. */
export function namesAfter(before: StoredVectors | undefined): string[] {
  if (before === undefined) return [];
  return [...before.replacedModels, `${before.model}/${before.dimensions}`].slice(-maxNames);
}

function isNameOf(name: string, { model, dimensions }: EmbeddingModel): boolean {
  return dimensions === undefined
    ? name.slice(0, name.lastIndexOf("/")) === model
    : name === `${model}/${dimensions}`;
}
