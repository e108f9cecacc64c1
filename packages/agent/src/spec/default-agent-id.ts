/** Returns the default id of an agent: `ops-supervisor` for the name `Ops Supervisor`. */
export function defaultAgentId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+/g, "")
    .slice(0, 63)
    .replaceAll(/-+$/g, "");
}
