import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A certificate, its key, and the path of its authority's certificate. */
export interface TestCertificate {
  readonly authority: string;
  readonly key: string;
  readonly cert: string;
}

/** Creates a certificate for 127.0.0.1 and localhost, valid for a day, with its own authority. Undefined: openssl is not installed. */
export function testCertificate(folder: string): TestCertificate | undefined {
  if (spawnSync("openssl", ["version"]).error !== undefined) return undefined;
  const path = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  const authority = ["-keyout", "ca-key.pem", "-out", "ca.pem"];
  openssl("req", "-x509", ...curve, "-days", "1", "-subj", "/CN=reeve-test-ca", ...authority);
  openssl("req", ...curve, "-subj", "/CN=reeve-test", "-keyout", "key.pem", "-out", "request.pem");
  writeFileSync(path("names.cnf"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "1"];
  const names = ["-extfile", "names.cnf", "-out", "cert.pem"];
  openssl("x509", "-req", "-in", "request.pem", ...signed, ...names);
  const read = (name: string) => readFileSync(path(name), "utf8");
  return { authority: path("ca.pem"), key: read("key.pem"), cert: read("cert.pem") };
}
