import type { Environment } from "@reeve/platform/config";
import { invalidConfig } from "./json-config.ts";

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The texts with each `${NAME}` replaced by that variable of the environment. Throws a Failure when one is not set. */
export function fillVariables(
  setting: string,
  texts: Readonly<Record<string, string>>,
  environment: Environment,
): Readonly<Record<string, string>> {
  const missing = new Set<string>();
  const filled = Object.entries(texts).map(([key, text]) => [
    key,
    text.replaceAll(variable, (_, name: string) => {
      const value = environment[name];
      if (value === undefined || value === "") missing.add(name);
      return value ?? "";
    }),
  ]);
  if (missing.size === 0) return Object.fromEntries(filled) as Record<string, string>;
  throw invalidConfig(setting, `the environment has no ${[...missing].join(", ")}`);
}
