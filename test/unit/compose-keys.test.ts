import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { userNames } from "@reeve/jetstream/access/server-users";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const script = join(import.meta.dirname, "../../deploy/compose/keys.mjs");
/** Belongs to the user of this checkout. */
const owned = join(import.meta.dirname, "../../compose.yaml");
const root = mkdtempSync(join(tmpdir(), "reeve-keys-"));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(root, "start-"));
  for (const each of ["host", "keys/nats", ...userNames.map((user) => `keys/${user}`)]) {
    mkdirSync(join(folder, each), { recursive: true });
  }
});

afterAll(() => rmSync(root, { recursive: true }));

function start(env: NodeJS.ProcessEnv = {}): void {
  const folders = ["host", "keys"].map((each) => join(folder, each));
  execFileSync(process.execPath, [script, ...folders, owned], { env: { ...process.env, ...env } });
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function environmentOf(service: string): NodeJS.Dict<string> {
  return parseEnv(read(`keys/${service}/env`));
}

const isRoot = process.getuid?.() === 0;

// Requirement: OPS-6
describe.skipIf(!isRoot)(`the keys of compose.yaml${isRoot ? "" : ": need root"}`, () => {
  test("each service gets its own user of NATS, and no password of another", () => {
    start();
    const passwords = userNames.map((user) => {
      const { REEVE_NATS_USER, REEVE_NATS_PASSWORD } = environmentOf(user);
      expect(REEVE_NATS_USER).toBe(user);
      return REEVE_NATS_PASSWORD ?? "";
    });
    expect(new Set(passwords).size).toBe(userNames.length);
    for (const [index, user] of userNames.entries()) {
      const others = passwords.filter((_, other) => other !== index);
      for (const other of others) expect(read(`keys/${user}/env`)).not.toContain(other);
      expect(read("keys/nats/nats.conf")).toContain(
        `user: ${user}, password: "${passwords[index]}"`,
      );
    }
  });

  test("the key of an encrypted store is generated once, and stays without the setting", () => {
    start();
    expect(read("keys/nats/nats.conf")).not.toContain("cipher");
    start({ REEVE_ENCRYPT_STORE: "true" });
    const [setting] = /jetstream \{ cipher: aes, key: "[0-9a-f]{64}" \}/.exec(
      read("keys/nats/nats.conf"),
    ) ?? [""];
    expect(setting).not.toBe("");
    start();
    expect(read("keys/nats/nats.conf")).toContain(setting);
  });

  test("only their owners can read the keys", () => {
    start();
    const files = ["nats/nats.conf", ...userNames.map((user) => `${user}/env`)];
    for (const file of files) {
      const { mode, uid } = statSync(join(folder, "keys", file));
      expect([file, mode & 0o777, uid]).toEqual([
        file,
        0o600,
        file.startsWith("nats") ? 0 : 65_532,
      ]);
    }
  });

  test("a later start keeps all secrets", () => {
    start();
    const before = [read("host/token"), ...userNames.map((user) => read(`keys/${user}/env`))];
    start();
    const after = [read("host/token"), ...userNames.map((user) => read(`keys/${user}/env`))];
    expect(after).toEqual(before);
  });

  test("the keys of a version without users of NATS stay valid", () => {
    writeFileSync(join(folder, "host/token"), "reeve_old\n");
    writeFileSync(join(folder, "keys/approvals/env"), "REEVE_INTERNAL_TOKEN=old\n");
    start();
    expect(environmentOf("gateway")).toMatchObject({
      REEVE_TOKENS: "reeve_old=local/me",
      REEVE_INTERNAL_TOKEN: "old",
      REEVE_NATS_USER: "gateway",
    });
    expect(environmentOf("approvals")["REEVE_INTERNAL_TOKEN"]).toBe("old");
  });
});
