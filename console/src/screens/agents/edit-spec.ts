import { isMap, parseDocument } from "yaml";

/** The notations of a spec. */
export type SpecFormat = "YAML" | "JSON";

/**
 * Returns the text of a spec with another value of a field; an empty value removes it. Comments and the order of other fields stay.
 * A text that cannot be read stays as it is. A section that is no map, such as one without a value, becomes one.
 */
export function editSpec(
  text: string,
  path: readonly string[],
  value: string | number | readonly string[] | undefined,
  format: SpecFormat = "YAML",
): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const isEmpty =
    value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  if (isEmpty) {
    if (!document.hasIn(path)) return text;
    document.deleteIn(path);
    removeEmpty(document, path.slice(0, -1));
  } else {
    makeSections(document, path);
    document.setIn(path, document.createNode(value));
  }
  // The writer of YAML writes plain values into JSON, which no other reader of JSON accepts.
  if (format === "JSON") return JSON.stringify(document.toJS(), undefined, 2);
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}

/** Replaces what is in the place of a section and can hold no field. */
function makeSections(document: ReturnType<typeof parseDocument>, path: readonly string[]): void {
  for (let depth = 0; depth < path.length; depth++) {
    const section = path.slice(0, depth);
    const node = depth === 0 ? document.contents : document.getIn(section, true);
    if (isMap(node) || node === undefined || node === null) continue;
    if (depth === 0) document.contents = document.createNode({});
    else document.setIn(section, document.createNode({}));
  }
}

/** Removes what has no fields left: a section that is set means something else than one that is not. */
function removeEmpty(document: ReturnType<typeof parseDocument>, path: readonly string[]): void {
  if (path.length === 0) return;
  const section = document.getIn(path);
  if (isMap(section) && section.items.length === 0) document.deleteIn(path);
}
