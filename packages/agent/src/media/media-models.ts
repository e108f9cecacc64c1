import type { AgentSpec, Limits, ModelCatalog } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { ResolvedModel } from "../resolve/resolve-model.ts";
import { resolveModel } from "../resolve/resolve-model.ts";
import type { MediaKind } from "./media-kinds.ts";
import { mediaField, mediaKinds, mediaReference } from "./media-kinds.ts";
import { mediaPriceProblem } from "./media-price.ts";

/** The models with which an agent generates media, by kind. */
export type MediaModels = ReadonlyMap<MediaKind, ResolvedModel>;

/**
 * Returns the models that an agent names for media. Throws a Failure that names the field if one does not exist, does not generate
 * such media, or has no bound of its cost under a cap.
 */
export function resolveMediaModels(
  spec: Pick<AgentSpec, "media">,
  catalog: ModelCatalog,
  limits: Pick<Limits, "budgets">,
): MediaModels {
  const found = new Map<MediaKind, ResolvedModel>();
  for (const kind of mediaKinds) {
    const resolved = resolveMediaModel(kind, spec, catalog, limits);
    if (resolved !== undefined) found.set(kind, resolved);
  }
  return found;
}

function resolveMediaModel(
  kind: MediaKind,
  { media }: Pick<AgentSpec, "media">,
  catalog: ModelCatalog,
  limits: Pick<Limits, "budgets">,
): ResolvedModel | undefined {
  const reference = mediaReference(media, kind);
  if (reference === "") return undefined;
  const resolved = generatingModel(kind, reference, catalog, mediaField(kind));
  const unpriced = mediaPriceProblem(kind, resolved.model, limits);
  if (unpriced !== undefined) throw unusable("budgets.max_cost_usd", unpriced, "UNKNOWN_COST");
  return resolved;
}

/** Returns the model of a reference. Throws a Failure that names `field` if it does not exist, or does not generate such media. */
export function generatingModel(
  kind: MediaKind,
  reference: string,
  catalog: ModelCatalog,
  field: string,
): ResolvedModel {
  const resolved = resolveModel({ model: reference }, catalog, field);
  const problem = generationProblem(kind, resolved, catalog);
  if (problem !== undefined) throw unusable(field, problem, "UNSUPPORTED_CAPABILITY");
  return resolved;
}

/** Returns what is wrong with the models that an agent names for media. */
export function mediaModelViolations(
  spec: Pick<AgentSpec, "media">,
  catalog: ModelCatalog,
  limits: Pick<Limits, "budgets">,
): readonly Violation[] {
  return mediaKinds.flatMap((kind): readonly Violation[] => {
    try {
      resolveMediaModel(kind, spec, catalog, limits);
      return [];
    } catch (error) {
      if (error instanceof Failure) return error.violations;
      throw error;
    }
  });
}

/** Returns the id of the first model of the registry that generates a kind of media. Undefined: there is none. */
export function defaultMediaModel(kind: MediaKind, catalog: ModelCatalog): string | undefined {
  return catalog.models.find((model) => {
    const provider = catalog.providers.find(({ name }) => name === model.provider);
    return model.generates.includes(kind) && provider?.generates.includes(kind) === true;
  })?.id;
}

/** Returns why a model generates no media of a kind. Undefined: it generates them. */
function generationProblem(
  kind: MediaKind,
  { model, provider }: ResolvedModel,
  { models }: ModelCatalog,
): string | undefined {
  const isRegistered = models.some(({ id }) => id === model.id);
  // What a model generates that is not registered is known to its provider only.
  if (isRegistered && !model.generates.includes(kind)) {
    return `the model "${model.id}" does not generate ${kind}; add generates: [${kind}] to it in the file of REEVE_MODELS, or choose another model`;
  }
  return provider.generates.includes(kind)
    ? undefined
    : `the API of the provider "${provider.name}" does not generate ${kind}; choose a model of another provider`;
}

function unusable(field: string, description: string, reason: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_AGENT, `${field}: ${description}`, {
    violations: [{ field, description, reason }],
  });
}
