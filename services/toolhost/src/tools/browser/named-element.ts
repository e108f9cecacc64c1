import type { PageView } from "./page-view.ts";
import { maxUrlChars } from "./part-of-view.ts";

/** An element of a page as a model has read it, and as a person has approved its use. */
export interface NamedElement {
  /** Reference in the outline of the page, such as `e12`. */
  readonly element: string;
  readonly role: string;
  /** Accessible name, or the text of an element that has none. */
  readonly name: string;
  /** Address of the page, perhaps without its query and fragment. */
  readonly page: string;
}

/** Returns why a page does not show an element as it was read; undefined if it does. */
export function elementProblem(
  { url, text }: Pick<PageView, "url" | "text">,
  { element, role, name, page }: NamedElement,
): string | undefined {
  if (!isAddressOf(page, url)) {
    return `the page is ${url.slice(0, maxChars)} now, and not ${page.slice(0, maxChars)}; nothing was done: read it again`;
  }
  const found = elementAt(text, element);
  if (found === undefined) return `the page has no element ${element} now; read it again`;
  if (found.role === role && isSameText(found.name, name)) return undefined;
  const [is, was] = [found, { role, name }].map((each) =>
    `${each.role} ${JSON.stringify(each.name)}`.slice(0, maxChars),
  );
  return `the element ${element} is ${is} now, and not ${was}; nothing was done: read the page again`;
}

/** How much of an address or a name a message has. */
const maxChars = 300;

/**
 * Whether a text is the address of a page, perhaps without its query and fragment. Compares texts: an address that is only parsed to the
 * same origin and path can show a person another one, such as by a user name or by letters that look alike.
 */
function isAddressOf(text: string, url: string): boolean {
  // The model has read no more of it.
  const address = url.slice(0, maxUrlChars);
  const [path = ""] = address.split(/[?#]/);
  const [withQuery = ""] = address.split("#");
  return [address, withQuery, path, path.replace(/\/$/, "")].includes(text.trim());
}

function isSameText(one: string, other: string): boolean {
  const normalized = [one, other].map((text) => text.replaceAll(/\s+/g, " ").trim());
  return normalized[0] === normalized[1];
}

/**
 * A line of an outline: a role, perhaps a name in quotes and attributes in brackets, and perhaps the text of the element. The name of an
 * element can look like an attribute, so names are read as a whole.
 */
const lineFormat = /^([\w-]+)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[^\]]*\])*)(?::(?: (.*))?)?$/;

/** Returns the element with a reference in the outline of a page. */
function elementAt(
  outline: string,
  reference: string,
): { readonly role: string; readonly name: string } | undefined {
  for (const line of outline.split("\n")) {
    if (!line.includes(`[ref=${reference}]`)) continue;
    const [, role = "", quoted, attributes = "", text = ""] = lineFormat.exec(unquoted(line)) ?? [];
    if (!attributes.includes(` [ref=${reference}]`)) continue;
    return { role, name: quoted === undefined ? plain(text) : plain(quoted) };
  }
  return undefined;
}

/** Returns a line without its indentation and its quotes, which it has if its name has a character with a meaning in YAML. */
function unquoted(line: string): string {
  const entry = line.trim().replace(/^- /, "");
  const [, key, rest = ""] = /^'((?:[^']|'')*)'(.*)$/.exec(entry) ?? [];
  return key === undefined ? entry : `${key.replaceAll("''", "'")}${rest}`;
}

/** Returns a text without its quotes, if it has some. */
function plain(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
