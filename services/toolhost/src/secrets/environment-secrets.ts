import type { Environment } from "@reeve/platform/config";
import type { SecretKey, SecretSource } from "./secret-source.ts";

/** The variables of the environment, by tenant and name of the secret. */
export type VariableNames = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The secrets in variables of the environment that a map names. No other variable can be read. */
export function environmentSecrets(names: VariableNames, environment: Environment): SecretSource {
  const variables = new Map(
    Object.entries(names).flatMap(([tenant, secrets]) =>
      Object.entries(secrets).map(
        ([name, variable]) => [idOf({ tenant, name }), variable] as const,
      ),
    ),
  );
  return {
    read: (key) => {
      const variable = variables.get(idOf(key));
      const value = variable === undefined ? undefined : environment[variable];
      return Promise.resolve(value === "" ? undefined : value);
    },
    placeOf: (key) => {
      const variable = variables.get(idOf(key));
      return variable === undefined
        ? `the map of environment variables in REEVE_SECRETS_CONFIG`
        : `the variable ${variable} of the environment`;
    },
  };
}

function idOf({ tenant, name }: SecretKey): string {
  return `${tenant}/${name}`;
}
