import type { X509Certificate } from "node:crypto";
import { createPrivateKey } from "node:crypto";
import { createSecureContext } from "node:tls";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { NamedFile } from "../process/watch-files.ts";
import { unusableFile } from "../process/watch-files.ts";
import { parseCertificates, pemOf } from "./parse-certificates.ts";

/** A certificate with its chain and its key, in PEM format. */
export interface CertifiedKey {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The time at which the first certificate of the chain expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The files of a certificate, its own first and then those of the authorities between, and of its key. */
export interface CertifiedKeyFiles {
  readonly cert: NamedFile;
  readonly key: NamedFile;
}

/**
 * Parses a certificate and its key. Throws a Failure that names the file and the fix if one is not PEM, if they do not belong
 * together, or if a certificate of the chain is not valid at `now`.
 */
export function parseCertifiedKey(
  files: CertifiedKeyFiles,
  [cert, key]: readonly [Buffer, Buffer],
  now: number,
): CertifiedKey {
  const chain = parseCertificates(files.cert, cert);
  for (const each of chain) assertValid(files.cert, each, now);
  const [leaf] = chain;
  if (leaf?.checkPrivateKey(parseKey(files.key, key)) !== true) {
    throw new Failure(
      "invalid",
      ErrorReason.INVALID_REQUEST,
      `${files.key.setting} ${files.key.path} is not the key of the first certificate in ${files.cert.setting} ${files.cert.path}; use the key that the certificate was requested with, and put the certificate of the server before those of its authorities`,
    );
  }
  const pem = pemOf(chain);
  try {
    createSecureContext({ cert: pem, key });
  } catch (error) {
    throw unusableFile(files.cert, error);
  }
  return {
    cert: pem,
    key,
    expiresAt: Math.min(...chain.map((each) => each.validToDate.getTime())),
  };
}

function parseKey(file: NamedFile, pem: Buffer) {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = (error as NodeJS.ErrnoException).code === "ERR_MISSING_PASSPHRASE";
    const problem = isEncrypted
      ? "the key is encrypted; decrypt it, for example with `openssl pkey`"
      : "it has no private key in PEM format; start it with -----BEGIN PRIVATE KEY-----";
    throw unusableFile(file, problem);
  }
}

function assertValid(file: NamedFile, certificate: X509Certificate, now: number): void {
  const { validFromDate: from, validToDate: to } = certificate;
  const subject = certificate.subject.replaceAll("\n", ", ") || "without a subject";
  if (to.getTime() <= now) {
    throw unusableFile(
      file,
      `the certificate ${subject} expired at ${to.toISOString()}; replace it with a new one`,
    );
  }
  if (from.getTime() > now) {
    throw unusableFile(
      file,
      `the certificate ${subject} is not valid before ${from.toISOString()}; check the clock of this machine, or replace it`,
    );
  }
}
