/**
 * Whether a text contains an absolute path below a folder. The same names inside of another path, as `lib/context/a.js` for `/context`, are
 * no such path.
 */
export function containsPathBelow(text: string, folder: string): boolean {
  // A file URL has the path after its slashes; all other characters of a path before it make it a part of another one.
  const literal = folder.replaceAll(/[^\w/-]/g, String.raw`\$&`);
  return new RegExp(`(?:(?<![\\w./@-])|(?<=file://))${literal}/`).test(text);
}
