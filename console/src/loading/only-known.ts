/** Reads what a screen knows of the parameters of an address. */
type ReadSearch<Search> = (search: Record<string, unknown>) => Search;

/**
 * Returns a reader whose result also unsets every parameter that it does not know: the router passes on what a person wrote, and a
 * screen would read it in place of what was refused.
 */
export function onlyKnown<Search extends object>(read: ReadSearch<Search>): ReadSearch<Search> {
  return (search) => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });
}

/** Whether parameters have any value. */
export function hasValues(search: object): boolean {
  return Object.values(search).some((value) => value !== undefined);
}
