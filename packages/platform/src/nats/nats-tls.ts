import type { KeyObject, X509Certificate } from "node:crypto";
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { NamedFile } from "../process/watch-files.ts";
import { parseCertificates, pemOf } from "../tls/parse-certificates.ts";

/**
 * The files of a connection with TLS, in PEM format. The client of NATS reads them each time it connects, so a file that is
 * replaced is used from the next connection on.
 */
export interface NatsTls {
  /** The authorities that sign the certificates of servers. Default: the public authorities that Node knows. */
  readonly caFile?: string | undefined;
  /** The certificate of this client, for servers that ask for one. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The settings that name the files. */
export const tlsSettings = {
  caFile: "REEVE_NATS_CA_FILE",
  certFile: "REEVE_NATS_CERT_FILE",
  keyFile: "REEVE_NATS_KEY_FILE",
} as const;

/** The content of the files. */
export interface NatsTlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Whether a connection to these URLs must use TLS: one of them has `tls://`, or there are files for it. */
export function needsTls(urls: string, { caFile, certFile, keyFile }: NatsTls): boolean {
  const hasFiles = [caFile, certFile, keyFile].some((file) => file !== undefined);
  return hasFiles || urls.split(",").some((url) => url.startsWith("tls://"));
}

/** Reads the files. Throws a Failure that names the setting, the file, and the cause. */
export function readTlsFiles(tls: NatsTls): NatsTlsFiles {
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw invalid(`set both ${tlsSettings.certFile} and ${tlsSettings.keyFile}, or neither`);
  }
  const ca = read(tls, "caFile", certificates);
  const cert = read(tls, "certFile", certificates);
  const key = read(tls, "keyFile", (pem) => createPrivateKey(pem));
  if (cert !== undefined && key !== undefined && !isKeyOf(key.parsed, cert.parsed)) {
    throw invalid(
      `${tlsSettings.keyFile} ${tls.keyFile} is not the key of the certificate in ${tlsSettings.certFile} ${tls.certFile}`,
    );
  }
  return {
    // Not as they are in the files: OpenSSL ignores certificates without a line break between them.
    ...(ca && { ca: pemOf(ca.parsed) }),
    ...(cert && { cert: pemOf(cert.parsed) }),
    ...(key && { key: key.pem }),
  };
}

function certificates(pem: Buffer, file: NamedFile): readonly X509Certificate[] {
  return parseCertificates(file, pem);
}

function isKeyOf(key: KeyObject, [certificate]: readonly X509Certificate[]): boolean {
  return certificate?.checkPrivateKey(key) ?? false;
}

function read<Parsed>(
  tls: NatsTls,
  name: keyof NatsTls,
  parse: (pem: Buffer, file: NamedFile) => Parsed,
) {
  const path = tls[name];
  if (path === undefined) return undefined;
  try {
    const pem = readFileSync(path);
    return { pem, parsed: parse(pem, { setting: tlsSettings[name], path }) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    throw invalid(`${tlsSettings[name]} ${path}: ${cause}`);
  }
}

function invalid(message: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
