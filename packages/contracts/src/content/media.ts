export const allModalities = ["text", "image", "audio", "pdf"] as const;

/** What a model reads. */
export type Modality = (typeof allModalities)[number];

const modalities: ReadonlyMap<string, Modality> = new Map([
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["audio/wav", "audio"],
  ["audio/mpeg", "audio"],
  ["application/pdf", "pdf"],
]);

/** The media types of the files that models read. */
export const mediaTypes: readonly string[] = [...modalities.keys()];

/** Returns the modality that a model needs to read files of a media type. Undefined: no model reads them. */
export function modalityOf(mediaType: string): Modality | undefined {
  return modalities.get(mediaType);
}

/** Returns the modalities of a list in a contract, where an empty list stands for text. Names of newer versions are left out. */
export function modalitiesIn(names: readonly string[]): ReadonlySet<Modality> {
  const known = allModalities.filter((each) => names.includes(each));
  return new Set(names.length === 0 ? ["text"] : known);
}

/** The name of the provider that plays scripts. A script reads everything. */
export const scriptedProvider = "scripted";

/** Returns what a model reads. */
export function modalitiesOf({
  provider,
  modalities: names,
}: {
  readonly provider: string;
  readonly modalities: readonly string[];
}): ReadonlySet<Modality> {
  return provider === scriptedProvider ? new Set(allModalities) : modalitiesIn(names);
}

/** Returns what stands for a file where text is all that can be read, such as a summary. */
export function fileNote(
  { name, mediaType }: { readonly name: string; readonly mediaType: string },
  why = "",
): string {
  const kind = modalityOf(mediaType) ?? "file";
  return `[${kind} "${name}"${why === "" ? "" : `: ${why}`}]`;
}
