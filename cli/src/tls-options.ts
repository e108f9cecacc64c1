import { readFileSync } from "node:fs";
import type { ClientOptions } from "@reeve/client";
import { Failure } from "@reeve/platform/failure";
import { parseCertifiedKey } from "@reeve/platform/tls/certified-key";
import { parseCertificates, pemOf } from "@reeve/platform/tls/parse-certificates";
import { UsageError } from "./exit-code.ts";

/** The options with the files for TLS. */
export interface TlsOptions {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The contents of the files, as a client takes them. */
export type TlsContents = Pick<ClientOptions, "ca" | "cert" | "key">;

/**
 * Reads the files for TLS that the options name, or else the environment. Throws a UsageError that says which file cannot be used,
 * and why.
 */
export function readTlsOptions(options: TlsOptions, environment: NodeJS.ProcessEnv): TlsContents {
  const ca = namedFile("--ca-file", options.caFile, environment);
  const cert = namedFile("--cert-file", options.certFile, environment);
  const key = namedFile("--key-file", options.keyFile, environment);
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError(
      "give both --cert-file (REEVE_CERT_FILE) and --key-file (REEVE_KEY_FILE), or neither",
    );
  }
  try {
    const authorities = ca && pemOf(parseCertificates(ca, ca.content));
    if (cert === undefined || key === undefined) return { ca: authorities };
    const certified = parseCertifiedKey({ cert, key }, [cert.content, key.content], Date.now());
    return { ca: authorities, cert: certified.cert, key: certified.key };
  } catch (error) {
    throw error instanceof Failure ? new UsageError(error.message) : error;
  }
}

/** Reads a file that an option names, or else the variable of the same name. Undefined if neither does. */
function namedFile(option: string, given: string | undefined, environment: NodeJS.ProcessEnv) {
  const variable = `REEVE_${option.slice(2).replaceAll("-", "_").toUpperCase()}`;
  const path = given ?? (environment[variable] || undefined);
  if (path === undefined) return undefined;
  const setting = `${option} (${variable})`;
  try {
    return { setting, path, content: readFileSync(path) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${setting} ${path} cannot be read: ${problem}`);
  }
}
