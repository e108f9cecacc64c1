import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { secretName } from "./secret-source.ts";
import type { Secrets } from "./secrets.ts";

const reference = /\$\{secret:([^}]*)\}/g;
const printable = /^[\x20-\x7E]*$/;

/** Texts of a configuration file, by name, in which `${secret:NAME}` stands for a secret of a tenant. */
export type SecretTexts = Readonly<Record<string, string>>;

/** Whether a secret is needed to fill in these texts. */
export function usesSecrets(texts: SecretTexts): boolean {
  return Object.values(texts).some((text) => text.includes("${secret:"));
}

/** Throws a Failure if a text refers to a secret by a name that no secret can have. */
export function checkReferences(setting: string, texts: SecretTexts): void {
  for (const [key, text] of Object.entries(texts)) {
    const names = [...text.matchAll(reference)].map(([, name = ""]) => name);
    const broken = names.find((name) => !secretName.test(name));
    if (broken !== undefined) {
      throw invalidConfig(setting, `${key} refers to "${broken}", which cannot be a secret`);
    }
  }
}

/** Returns the texts with the secrets of a tenant. Throws a Failure that names the first one that cannot be read. */
export async function withSecrets<Texts extends SecretTexts>(
  texts: Texts,
  tenant: string,
  secrets: Pick<Secrets, "value">,
  signal: AbortSignal,
): Promise<Texts> {
  const filled = Object.entries(texts).map(async ([key, text]) => {
    const names = [...text.matchAll(reference)].map(([, name = ""]) => name);
    if (names.length === 0) return [key, text];
    const values = await Promise.all(names.map((name) => secrets.value({ tenant, name }, signal)));
    let next = 0;
    return [key, text.replaceAll(reference, () => values[next++] ?? "")];
  });
  // The copy has the keys of the texts.
  return Object.fromEntries((await Promise.all(filled)) as [string, string][]) as Texts;
}

/** Does the same for headers and metadata, which carry printable ASCII only. White space around a value is removed. */
export async function headersWithSecrets(
  texts: SecretTexts,
  tenant: string,
  secrets: Pick<Secrets, "value">,
  signal: AbortSignal,
): Promise<SecretTexts> {
  const filled = await withSecrets(texts, tenant, secrets, signal);
  const headers = Object.entries(filled).map(([key, value]) => [key, value.trim()] as const);
  const broken = headers.find(([, value]) => !printable.test(value));
  if (broken === undefined) return Object.fromEntries(headers);
  // Sending it would fail with an error that contains the value.
  const problem = `a secret of tenant ${tenant} in the header ${broken[0]} must have only printable ASCII characters`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}
