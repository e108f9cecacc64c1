import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A certificate for 127.0.0.1 and localhost that is its own authority, valid for a day. */
export function selfSigned(folder: string): {
  readonly path: string;
  readonly key: string;
  readonly cert: string;
} {
  const [key, path] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = "subjectAltName=IP:127.0.0.1,DNS:localhost";
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-days", "1", "-subj", "/CN=reeve-test", "-addext", names],
      // Some libraries take no authority for a server.
      ...["-addext", "basicConstraints=critical,CA:TRUE"],
      ...["-keyout", key, "-out", path],
    ],
    { stdio: "ignore" },
  );
  return { path, key: readFileSync(key, "utf8"), cert: readFileSync(path, "utf8") };
}
