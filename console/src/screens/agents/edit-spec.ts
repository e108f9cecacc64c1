import { isMap, parseDocument } from "yaml";

/**
 * Returns the text of a spec with another value of a field; an empty value removes it. Comments and the order of other fields stay.
 * A text that cannot be read stays as it is.
 */
export function editSpec(
  text: string,
  path: readonly string[],
  value: string | number | readonly string[] | undefined,
): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const isEmpty =
    value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  if (isEmpty) {
    document.deleteIn(path);
    removeEmpty(document, path.slice(0, -1));
  } else {
    document.setIn(path, document.createNode(value));
  }
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}

/** Removes what has no fields left: a section that is set means something else than one that is not. */
function removeEmpty(document: ReturnType<typeof parseDocument>, path: readonly string[]): void {
  if (path.length === 0) return;
  const section = document.getIn(path);
  if (isMap(section) && section.items.length === 0) document.deleteIn(path);
}
