import { rmSync } from "node:fs";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { pino } from "pino";
import { systemClock } from "../src/async/clock.ts";
import { readMetrics } from "../src/telemetry/metrics.ts";
import { openServerTls } from "../src/tls/server-tls.ts";
import { TlsFolder } from "./support/tls-files.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const quiet = { clock: systemClock, log: pino({ level: "silent" }) };
let authority: Authority;

beforeAll(async () => {
  authority = await Authority.create();
});

describe("a certificate that cannot be used is refused with its file and the fix:", () => {
  test("one of two settings", () => {
    expect(() => openServerTls({ REEVE_TLS_CERT_FILE: "/tls.crt" }, quiet)).toThrow(
      "set both REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE, or neither",
    );
    expect(() => openServerTls({ REEVE_TLS_KEY_FILE: "/tls.key" }, quiet)).toThrow("or neither");
  });

  test("a missing file", async () => {
    using folder = new TlsFolder(await authority.certify("localhost"));
    rmSync(folder.keyFile);
    expect(() => openServerTls(folder.settings, quiet)).toThrow(
      `REEVE_TLS_KEY_FILE ${folder.keyFile}: there is no such file`,
    );
  });

  test("a file that is a folder", async () => {
    using folder = new TlsFolder(await authority.certify("localhost"));
    const settings = { ...folder.settings, REEVE_TLS_CERT_FILE: folder.path };
    expect(() => openServerTls(settings, quiet)).toThrow(
      `REEVE_TLS_CERT_FILE ${folder.path}: it is a folder`,
    );
  });

  test.each([
    ["no PEM", "text", "it has no certificate in PEM format"],
    [
      "a damaged certificate",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      "certificate 1 cannot be parsed",
    ],
    [
      "a certificate and a part of another",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nAA",
      "it begins 2 certificates, and ends 1; it may be truncated",
    ],
  ])("%s instead of a certificate", async (_, text, problem) => {
    const { key } = await authority.certify("localhost");
    using folder = new TlsFolder({ cert: Buffer.from(text), key });
    expect(() => openServerTls(folder.settings, quiet)).toThrow(
      `REEVE_TLS_CERT_FILE ${folder.certFile}: ${problem}`,
    );
  });

  test("no PEM instead of a key", async () => {
    const { cert } = await authority.certify("localhost");
    using folder = new TlsFolder({ cert, key: Buffer.from("text") });
    expect(() => openServerTls(folder.settings, quiet)).toThrow(
      `REEVE_TLS_KEY_FILE ${folder.keyFile}: it has no private key in PEM format`,
    );
  });

  test("the key of another certificate", async () => {
    const [{ cert }, { key }] = [
      await authority.certify("localhost"),
      await authority.certify("localhost"),
    ];
    using folder = new TlsFolder({ cert, key });
    expect(() => openServerTls(folder.settings, quiet)).toThrow(
      `REEVE_TLS_KEY_FILE ${folder.keyFile} is not the key of the first certificate in REEVE_TLS_CERT_FILE ${folder.certFile}`,
    );
  });

  test.each([
    ["an expired certificate", -hourMs, -2 * hourMs, "CN=localhost expired at"],
    ["a certificate of the future", 2 * hourMs, hourMs, "CN=localhost is not valid before"],
  ])("%s", async (_, expiresInMs, startsInMs, problem) => {
    using folder = new TlsFolder(await authority.certify("localhost", expiresInMs, { startsInMs }));
    expect(() => openServerTls(folder.settings, quiet)).toThrow(
      `REEVE_TLS_CERT_FILE ${folder.certFile}: the certificate ${problem}`,
    );
  });

  test("a chain with an expired authority", async () => {
    const { cert, key } = await authority.certify("localhost");
    const { cert: expired } = await authority.certify("between", -hourMs);
    using folder = new TlsFolder({ cert: Buffer.concat([cert, expired]), key });
    expect(() => openServerTls(folder.settings, quiet)).toThrow("CN=between expired at");
  });
});

/** Follows files, and collects the problems and the warnings of the log. */
function followed(folder: TlsFolder, clock = systemClock) {
  const problems: unknown[] = [];
  const warnings: unknown[] = [];
  const log = pino({ level: "silent" });
  log.error = (fields: { readonly problem: string }) => void problems.push(fields.problem);
  log.warn = (fields: unknown, text?: string) => void warnings.push(text);
  const tls = openServerTls(folder.settings, { clock, log });
  if (tls === undefined) throw new Error("no certificate");
  return Object.assign(tls, { problems, warnings });
}

test("a broken pair keeps the one before, and is logged once until it is repaired", async () => {
  const first = await authority.certify("localhost");
  const second = await authority.certify("localhost");
  using folder = new TlsFolder(first);
  using tls = followed(folder);
  folder.swap({ cert: second.cert, key: first.key });
  await vi.waitFor(() => expect(tls.problems).toHaveLength(1), { timeout: 20_000 });
  expect(tls.problems[0]).toContain("is not the key of the first certificate");
  expect(tls.certified.cert).toEqual(first.cert);
  folder.swap(second);
  await vi.waitFor(() => expect(tls.certified.cert).toEqual(second.cert), { timeout: 20_000 });
  expect(tls.problems).toHaveLength(1);
});

test("the log warns once a day of the end of a certificate, from 14 days before", async () => {
  const certified = await authority.certify("localhost", 30 * dayMs);
  using folder = new TlsFolder(certified);
  const start = Date.now();
  let now = start;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    using tls = followed(folder, { ...systemClock, now: () => now });
    const pass = (days: number) => {
      now = start + days * dayMs;
      vi.advanceTimersByTime(60_000);
      return tls.warnings.length;
    };
    expect([pass(15), pass(16.1), pass(16.2), pass(17.1), pass(17.2)]).toEqual([0, 1, 1, 2, 2]);
    expect(tls.warnings[0]).toContain("expires in less than 14 days");
    expect(pass(31)).toBe(3);
    expect(tls.warnings[2]).toContain("has expired");
  } finally {
    vi.useRealTimers();
  }
});

async function metric(): Promise<number> {
  const { text } = await readMetrics();
  return Number(/^reeve_tls_certificate_expiry_seconds (\S+)$/m.exec(text)?.[1]);
}

test("the time to the end of the certificate is a metric", async () => {
  using folder = new TlsFolder(await authority.certify("localhost", hourMs));
  using _ = followed(folder);
  expect(await metric()).toBeGreaterThan(3_000);
  expect(await metric()).toBeLessThanOrEqual(3_600);
});
