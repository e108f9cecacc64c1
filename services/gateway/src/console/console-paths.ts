/** The first parts of the paths that the console handles itself. Every other unknown path is not found. */
const screens: ReadonlySet<string> = new Set([
  "agents",
  "audit",
  "chat",
  "inbox",
  "models",
  "operate",
  "passkeys",
  "runs",
  "sign-in",
  "start",
  "triggers",
  "workflows",
]);

/** Whether a path is the address of a screen, such as `/runs/run_1`, which the page itself shows. */
export function isScreen(path: string): boolean {
  const [, first = ""] = path.split("/", 2);
  return first === "" ? path === "/" : screens.has(first);
}

/**
 * Whether a path may be the address of a screen that a person mistyped: no file has such a path, no method of the API, and no version
 * of it.
 */
export function mayBeMistyped(path: string): boolean {
  return /^\/(?!v\d)[A-Za-z][\w-]*(\/[\w-]*)*$/.test(path);
}

/** Whether the client is a browser that opens a page: programs ask for any type, or for none. */
export function asksForPage(accept: string | undefined): boolean {
  return accept?.includes("text/html") === true;
}
