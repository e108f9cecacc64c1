import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { afterAll, expect, test } from "vitest";
import { readNotifySettings, signersOf, urlOf } from "./read-settings.ts";
import { secretReader } from "./secret-text.ts";

const folder = mkdtempSync(join(tmpdir(), "reeve-notify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = `whsec_${Buffer.from("canary-of-the-signing-secret-1234").toString("base64")}`;
const environment = {
  SECRET: secret,
  WEAK: "whsec_c2hvcnQ=",
  HOOK: "http://chat.example.com/canary",
};

async function read(text: string, redaction = new Redaction()) {
  const path = join(folder, "notify.yaml");
  writeFileSync(path, text);
  return await readNotifySettings(path, secretReader(environment, redaction));
}

const problemOf = (text: string) =>
  read(text).then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );

test("a file gets the defaults, and its secrets are redacted from then on", async () => {
  const redaction = new Redaction();
  const settings = await read(
    `receivers: [{ name: a, format: standard, url: "https://x.example/", secret: { environment: SECRET } }]`,
    redaction,
  );
  expect(settings).toMatchObject({
    receivers: [
      { events: ["requested", "escalated", "resolved", "break_glass"], include_arguments: false },
    ],
    timeout_seconds: 10,
    max_age_hours: 24,
    retry: { first_seconds: 5, max_seconds: 3_600, give_up_hours: 72 },
  });
  expect(redaction.text(`got ${secret}`)).toBe("got [redacted]");
});

test("all mistakes of a file are reported at once, with their lines", async () => {
  const problem = await problemOf(`
receivers:
  - { name: "Bad Name", format: standard, url: "https://x.example/", secret: whsec_plain }
  - { name: a, format: slack, url: "https://x.example/", colour: red }
  - { name: a, format: fax }
  - { name: b, format: email, smtp: { host: m.example, tls: none, user: u, password: { environment: SECRET } }, from: x, to: [] }
retry: { first_seconds: 60, max_seconds: 5 }
`);
  for (const [field, line] of [
    ["receivers[0].name", 3],
    ["receivers[0].secret", 3],
    ["receivers[1]", 4],
    ["receivers[2].format", 5],
    ["receivers[3].smtp.tls", 6],
    ["receivers[3].from", 6],
    ["receivers[3].to", 6],
    ["retry.max_seconds", 7],
  ] as const) {
    expect(problem).toContain(`${field} (line ${line})`);
  }
  expect(problem).not.toContain("whsec_plain");
});

test("two receivers have two names", async () => {
  const one = `{ name: a, format: slack, url: "https://x.example/" }`;
  expect(await problemOf(`receivers: [${one}, ${one}]`)).toContain('"a" is the name of another');
});

test("all secrets that cannot be used are reported at once, without their values", async () => {
  const problem = await problemOf(`
receivers:
  - { name: a, format: standard, url: "https://x.example/", secret: { environment: WEAK } }
  - { name: b, format: standard, url: "https://x.example/", secret: { file: ${folder}/missing } }
  - { name: c, format: slack, url: { environment: HOOK } }
  - { name: d, format: teams, url: { environment: UNSET } }
`);
  expect(problem).toMatch(/receivers\[0\]\.secret: a secret must be whsec_ and at least 24 bytes/);
  expect(problem).toMatch(/receivers\[1\]\.secret: the file .*missing cannot be read: ENOENT/);
  expect(problem).toMatch(/receivers\[2\]\.url: the url must begin with https:\/\//);
  expect(problem).toMatch(/receivers\[3\]\.url: the variable UNSET of the environment is missing/);
  expect(problem).not.toMatch(/canary|c2hvcnQ/);
});

test.each([
  ["https://x.example/", false, true],
  ["http://127.0.0.1:1/", false, true],
  ["http://[::1]:1/", false, true],
  ["http://x.example/", false, false],
  ["http://x.example/", true, true],
  ["https://user:password@x.example/", false, false],
  ["file:///etc/passwd", true, false],
  ["x.example", true, false],
])("the URL %s with allow_http %s is accepted: %s", async (url, allow_http, isAccepted) => {
  const reading = urlOf({ url, allow_http }, secretReader({}, new Redaction()));
  expect(
    await reading.then(
      () => true,
      () => false,
    ),
  ).toBe(isAccepted);
});

test("two secrets with a space between them sign both", () => {
  expect(signersOf(`${secret} ${secret}`)).toHaveLength(2);
});
