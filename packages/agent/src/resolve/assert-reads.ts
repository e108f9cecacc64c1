import { ErrorReason } from "@reeve/contracts/error";
import type { Modality } from "@reeve/contracts/content/media";
import { modalitiesIn, modalitiesOf, modalityOf } from "@reeve/contracts/content/media";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/** A file of a message, and the field of the request that has it. */
export interface GivenFile {
  readonly field: string;
  readonly mediaType: string;
}

/**
 * Throws a Failure of kind `unsupported` if a model that reads the conversation of a run cannot read one of the files: the model of the agent,
 * its planner, or one that takes over. It has a violation for each such file.
 */
export function assertReads(
  { executor, planner, fallbacks }: Pick<ResolvedAgent, "executor" | "planner" | "fallbacks">,
  files: readonly GivenFile[],
): void {
  if (files.length === 0) return;
  const models = [executor, planner, ...fallbacks].filter((each) => each !== undefined);
  const violations = files.flatMap(({ field, mediaType }): readonly Violation[] => {
    const modality = modalityOf(mediaType) ?? "text";
    const problem = models.map((each) => problemOf(each, modality)).find((each) => each !== "");
    if (problem === undefined) return [];
    const description = `is a file of type ${mediaType}, and ${problem}`;
    return [{ field, description, reason: unsupportedCapability }];
  });
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, list, { violations });
}

/** Returns why a model cannot read a modality; empty: it can. */
function problemOf({ model, provider }: ResolvedModel, modality: Modality): string {
  if (!modalitiesOf(model).has(modality)) {
    const read = [...modalitiesOf(model)].join(", ");
    return `the model "${model.id}" reads ${read} only; choose another model, or add ${modality} to its modalities in the file of REEVE_MODELS`;
  }
  return modalitiesIn(provider.modalities).has(modality)
    ? ""
    : `the API of the provider "${provider.name}" does not transfer ${modality}; choose a model of another provider`;
}
