// The certificate generator requires this polyfill.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  cryptoProvider,
} from "@peculiar/x509";
import type { X509Certificate } from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const hourMs = 3_600_000;

/** A certificate and its key, in PEM format. */
export interface CertifiedKey {
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface CertifyOptions {
  /** The time from now at which the certificate becomes valid. Default: two hours ago. */
  readonly startsInMs?: number;
  /** The names that are URIs. */
  readonly uris?: readonly string[];
}

/** How many authorities there are. OpenSSL does not tell two of the same name apart. */
let created = 0;

/** A certificate authority for tests. Its certificates are valid for an hour. */
export class Authority {
  readonly ca: Buffer;
  readonly #certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;
  #serial = 1;

  private constructor(certificate: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
    this.ca = Buffer.from(certificate.toString("pem"));
  }

  static async create(): Promise<Authority> {
    cryptoProvider.set(globalThis.crypto);
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: "01",
      name: `CN=test authority ${++created}`,
      ...validity(),
      keys,
      signingAlgorithm: algorithm,
      extensions: [new BasicConstraintsExtension(true, 1, true)],
    });
    return new Authority(certificate, keys);
  }

  /** Creates an authority whose certificate this one signs. */
  async createBelow(): Promise<Authority> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create({
      serialNumber: "02",
      subject: `CN=test authority ${++created}`,
      issuer: this.#certificate.subject,
      ...validity(),
      signingKey: this.#keys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: [new BasicConstraintsExtension(true, 0, true)],
    });
    return new Authority(certificate, keys);
  }

  /** Issues a certificate for a DNS name or an IP address, which expires in an hour, or `expiresInMs` from now. */
  async certify(
    name: string,
    expiresInMs = hourMs,
    { startsInMs = -2 * hourMs, uris = [] }: CertifyOptions = {},
  ): Promise<CertifiedKey> {
    const keys = await newKeys();
    this.#serial++;
    const certificate = await X509CertificateGenerator.create({
      serialNumber: this.#serial.toString(16).padStart(2, "0"),
      subject: `CN=${name}`,
      issuer: this.#certificate.subject,
      ...validity(expiresInMs, startsInMs),
      signingKey: this.#keys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: [
        new SubjectAlternativeNameExtension([
          { type: isIP(name) > 0 ? "ip" : "dns", value: name },
          ...uris.map((value) => ({ type: "url" as const, value })),
        ]),
      ],
    });
    const key = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
    const text = Buffer.from(key).toString("base64");
    return {
      cert: Buffer.from(`${certificate.toString("pem")}\n`),
      key: Buffer.from(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`),
    };
  }
}

function validity(expiresInMs = hourMs, startsInMs = -2 * hourMs) {
  const now = Date.now();
  return { notBefore: new Date(now + startsInMs), notAfter: new Date(now + expiresInMs) };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}
