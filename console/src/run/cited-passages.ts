import type { Passage } from "@reeve/contracts/extensions/knowledge";
import type { RunModel } from "./run-model.ts";

/** What an answer cites: `[handbook/travel.pdf, page 2, lines 1-3]`. */
const label = /\[([a-z0-9-]+)\/([^\]]+?)(?:, page (\d+))?, lines? (\d+)(?:-(\d+))?\]/g;

/** Returns the passages that the answers of a run cite by their labels, in the order of their first citation. */
export function citedPassages({ prepared, events, root }: RunModel): readonly Passage[] {
  const found = [
    ...(prepared?.passages ?? []),
    ...events.flatMap(({ event }) =>
      event.case === "toolResult" ? (event.value.result?.citations ?? []) : [],
    ),
  ];
  if (found.length === 0) return [];
  const texts = root.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  const cited = texts.flatMap((text) =>
    [...text.matchAll(label)].flatMap((match) => passageOf(match, found) ?? []),
  );
  return [...new Map(cited.map((passage) => [placeOf(passage), passage])).values()];
}

function passageOf(
  [, collection, name = "", page = "0", first = "", last = first]: RegExpMatchArray,
  found: readonly Passage[],
): Passage | undefined {
  const candidates = found.filter(
    (each) =>
      each.collectionId === collection &&
      each.page === Number(page) &&
      each.firstLine === Number(first) &&
      each.lastLine === Number(last),
  );
  const isNamed = ({ documentName }: Passage) => documentName.startsWith(name.replace(/…$/, ""));
  return candidates.find(isNamed) ?? (candidates.length === 1 ? candidates[0] : undefined);
}

/** Returns where a passage is, for people. */
export function placeOf({ documentName, page, firstLine, lastLine }: Passage): string {
  const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}–${lastLine}`;
  return [documentName, ...(page === 0 ? [] : [`page ${page}`]), lines].join(", ");
}
