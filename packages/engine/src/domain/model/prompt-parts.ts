import { fileNote, modalitiesOf, modalityOf } from "@reeve/contracts/content/media";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { ContentPart, FilePart } from "@reeve/contracts/content/parts";
import { fileTokens } from "@reeve/run/parts/media-tokens";
import type { Unit } from "../state/frame.ts";
import type { PromptFile, PromptPart } from "./model.ts";

/** How many bytes, and how many files, a request has at most: about what providers accept. Older files become notes. */
const maxRequestBytes = 20 * 1024 * 1024;
const maxRequestFiles = 50;

/** Returns the files of a conversation that a request has room for: those of the latest message of the user, then the newest ones. */
export function fittingFiles(units: readonly Unit[]): ReadonlySet<FilePart> {
  const fitting = new Set<FilePart>();
  let room = maxRequestBytes;
  const latest = units.findLast(({ kind }) => kind === "user");
  const others = units.filter((unit) => unit !== latest).flatMap(filesOf);
  const asked = latest === undefined ? [] : filesOf(latest);
  for (const file of [...asked.toReversed(), ...others.toReversed()]) {
    room -= file.sizeBytes;
    if (room < 0 || fitting.size === maxRequestFiles) break;
    fitting.add(file);
  }
  return fitting;
}

/** Returns the files of a part of the conversation. */
export function filesOf(unit: Unit): readonly FilePart[] {
  switch (unit.kind) {
    case "user":
      return (unit.parts ?? []).flatMap(({ part }) => (part.case === "file" ? [part.value] : []));
    case "assistant":
      return [];
    case "turn":
    case "past":
      return filesOfResults(unit).flat();
  }
  return [];
}

/** Returns the files of each result of a turn, in the order of the results. */
export function filesOfResults(
  unit: Extract<Unit, { kind: "turn" | "past" }>,
): readonly (readonly FilePart[])[] {
  if (unit.kind === "turn") return unit.calls.map(({ result }) => result?.files ?? []);
  return unit.messages.flatMap(({ message }) =>
    message.case === "toolResult" ? [message.value.files] : [],
  );
}

/** Returns the parts of a message as a model reads them: a file that it cannot read, or that does not fit, is a note. */
export function promptParts(
  parts: readonly ContentPart[],
  model: Pick<ModelSpec, "provider" | "modalities"> | undefined,
  fitting: ReadonlySet<FilePart>,
): readonly PromptPart[] {
  return parts.flatMap(({ part }): readonly PromptPart[] => {
    if (part.case === "text") return [{ kind: "text", text: part.value }];
    if (part.case !== "file") return [];
    const file = part.value;
    const problem = fitting.has(file)
      ? modalityProblem(file, model)
      : "left out, because the conversation has too many files";
    return problem === undefined
      ? [promptFile(file)]
      : [{ kind: "text", text: fileNote(file, problem) }];
  });
}

/** Returns the files of a result that a model reads. Its text names all of them. */
export function promptFiles(
  files: readonly FilePart[],
  model: Pick<ModelSpec, "provider" | "modalities"> | undefined,
  fitting: ReadonlySet<FilePart>,
): readonly PromptFile[] {
  return files
    .filter((file) => fitting.has(file) && modalityProblem(file, model) === undefined)
    .map(promptFile);
}

function promptFile(file: FilePart): PromptFile {
  const { artifactId, mediaType, name, sizeBytes, sha256 } = file;
  const tokens = fileTokens(file);
  return { kind: "file", artifactId, mediaType, name, sizeBytes, sha256, tokens };
}

function modalityProblem(
  { mediaType }: FilePart,
  model: Pick<ModelSpec, "provider" | "modalities"> | undefined,
): string | undefined {
  const modality = modalityOf(mediaType);
  return modality !== undefined && model !== undefined && modalitiesOf(model).has(modality)
    ? undefined
    : "left out, because this model does not read such files";
}
