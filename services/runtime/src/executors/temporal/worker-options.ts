import { readFileSync } from "node:fs";
import type { RuntimeConfig } from "../../config.ts";
import type { TemporalConnectionOptions, TlsOptions } from "./sdk.ts";

/** Returns how to reach Temporal. Throws if a file of the settings cannot be read. */
export function connectionOptions(config: RuntimeConfig): TemporalConnectionOptions {
  const {
    REEVE_TEMPORAL_ADDRESS: address,
    REEVE_TEMPORAL_API_KEY: apiKey,
    REEVE_TEMPORAL_TLS: isTls,
    REEVE_TEMPORAL_CA_FILE: caFile,
    REEVE_TEMPORAL_CERT_FILE: certFile,
    REEVE_TEMPORAL_KEY_FILE: keyFile,
  } = config;
  const files: TlsOptions = {
    ...(caFile !== undefined && { serverRootCACertificate: readFileSync(caFile) }),
    ...(certFile !== undefined &&
      keyFile !== undefined && {
        clientCertPair: { crt: readFileSync(certFile), key: readFileSync(keyFile) },
      }),
  };
  const isSecure =
    isTls === undefined ? apiKey !== undefined || Object.keys(files).length > 0 : isTls === "true";
  return { address, tls: isSecure && files, ...(apiKey !== undefined && { apiKey }) };
}
