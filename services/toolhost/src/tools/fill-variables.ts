import type { Environment } from "@reeve/platform/config";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const printable = /^[\x20-\x7E]*$/;

/** The names of headers, settings, and variables that hold secrets. Other values may be ordinary words, such as a region. */
const secretName = /auth|cookie|credential|key|pass|pwd|secret|session|token/i;

/**
 * Replaces each `${NAME}` in the texts by that variable of the environment. If its name, or that of its text, is one of a secret, it
 * is redacted from then on in everything that leaves this process. Throws a Failure when one is not set.
 */
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
      if (value === undefined || value.trim() === "") missing.add(name);
      else if (secretName.test(key) || secretName.test(name)) redact(value);
      return value ?? "";
    }),
  ]);
  if (missing.size === 0) return Object.fromEntries(filled) as Record<string, string>;
  throw invalidConfig(setting, `the environment has no ${[...missing].join(", ")}`);
}

/**
 * Returns the values of headers without surrounding white space: a secret from a file ends with a newline. Throws a Failure that
 * names only the header when a value has a character that headers cannot carry: sending it would fail with an error that
 * contains the value.
 */
export function headerValues(
  setting: string,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const trimmed = Object.entries(values).map(([key, value]) => [key, value.trim()] as const);
  const broken = trimmed.filter(([, value]) => !printable.test(value)).map(([key]) => key);
  if (broken.length === 0) return Object.fromEntries(trimmed);
  const problem = "must contain only printable ASCII characters";
  throw invalidConfig(
    setting,
    `the value of each of these headers ${problem}: ${broken.join(", ")}`,
  );
}

/** Headers carry a value without the white space around it. */
function redact(value: string): void {
  processRedaction.keep(value);
  processRedaction.keep(value.trim());
}
