import { parse } from "yaml";

/**
 * Whether a text is a file of models and providers, and not of an agent: a mapping in YAML or JSON with `models` or `providers`, and
 * without the fields that each agent has. False for what cannot be parsed.
 */
export function isRegistryFile(text: string): boolean {
  if (!/^\s*\{|^["']?(?:models|providers)["']?\s*:/m.test(text)) return false;
  try {
    const value: unknown = parse(text, { maxAliasCount: 10, logLevel: "error" });
    if (typeof value !== "object" || value === null) return false;
    const isAgent = ["id", "name", "model", "workflow"].some((field) => field in value);
    return !isAgent && ("models" in value || "providers" in value);
  } catch {
    return false;
  }
}
