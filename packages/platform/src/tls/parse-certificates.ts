import { X509Certificate } from "node:crypto";
import type { NamedFile } from "../process/watch-files.ts";
import { unusableFile } from "../process/watch-files.ts";

const start = "-----BEGIN CERTIFICATE-----";
const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Parses all certificates of a PEM text. Throws if one cannot be parsed. */
export function splitCertificates(pem: Buffer | string): readonly X509Certificate[] {
  return blocksOf(pem).map((text) => new X509Certificate(text));
}

/** Returns certificates as PEM. OpenSSL ignores certificates of a text without a line break between them. */
export function pemOf(certificates: readonly X509Certificate[]): Buffer {
  return Buffer.from(certificates.map((certificate) => certificate.toString()).join(""));
}

/** Parses all certificates of a PEM file, at least one. Throws a Failure that names the file. */
export function parseCertificates(file: NamedFile, pem: Buffer): readonly X509Certificate[] {
  const blocks = blocksOf(pem);
  if (blocks.length === 0) {
    throw unusableFile(
      file,
      "it has no certificate in PEM format; start it with -----BEGIN CERTIFICATE-----",
    );
  }
  const begun = pem.toString("latin1").split(start).length - 1;
  if (begun > blocks.length) {
    throw unusableFile(
      file,
      `it begins ${begun} certificates, and ends ${blocks.length}; it may be truncated, so write it again`,
    );
  }
  return blocks.map((text, index) => {
    try {
      return new X509Certificate(text);
    } catch (error) {
      throw unusableFile(file, `certificate ${index + 1} cannot be parsed: ${String(error)}`);
    }
  });
}

function blocksOf(pem: Buffer | string): readonly string[] {
  return pem.toString("latin1").match(block) ?? [];
}
