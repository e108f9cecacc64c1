import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";

/** A folder with a certificate and its key, mounted as Kubernetes mounts secrets: it swaps a link to the files of a version. */
export class TlsFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "reeve-tls-"));
  readonly certFile = join(this.path, "tls.crt");
  readonly keyFile = join(this.path, "tls.key");
  readonly settings = { REEVE_TLS_CERT_FILE: this.certFile, REEVE_TLS_KEY_FILE: this.keyFile };
  #version = 0;

  constructor(certified: Partial<CertifiedKey>) {
    this.swap(certified);
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(`..data/${name}`, join(this.path, name));
  }

  /** Replaces both files at once. */
  swap({ cert, key }: Partial<CertifiedKey>): void {
    const version = `..version-${++this.#version}`;
    mkdirSync(join(this.path, version));
    if (cert !== undefined) writeFileSync(join(this.path, version, "tls.crt"), cert);
    if (key !== undefined) writeFileSync(join(this.path, version, "tls.key"), key);
    const next = join(this.path, "..data-next");
    symlinkSync(version, next);
    renameSync(next, join(this.path, "..data"));
  }

  /** Writes a file beside the certificate, and returns its path. */
  write(name: string, content: string | Buffer): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
