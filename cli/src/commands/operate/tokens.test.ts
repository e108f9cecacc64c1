import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTokenFile } from "@reeve/gateway/auth/token-file";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { MemoryTerminal } from "../../../test/support/memory-terminal.ts";
import { runCli } from "../../run-cli.ts";

let file = "";
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  file = join(folder, "tokens");
});

async function tokens(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const { signal } = new AbortController();
  const all = ["tokens", ...args, "--file", file];
  const code = await runCli(all, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("a token is printed once, and its file holds only the digest", async () => {
  const end = ["--until", "2030-01-31T00:00:00Z"];
  const { code, stdout } = await tokens("create", "acme/ann", "--roles", "runner+approver", ...end);
  expect(code).toBe(0);
  const token = stdout.trim();
  expect(token).toMatch(/^rv_[\w-]{43}$/);
  expect(readFileSync(file, "utf8")).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(parseTokenFile(readFileSync(file, "utf8")).get(tokenDigest(token))).toMatchObject({
    tenant: "acme",
    subject: "ann",
    expiresAt: Date.UTC(2030, 0, 31),
  });
});

test("a token is listed, and revoked by its id", async () => {
  writeFileSync(file, "# people");
  const { stdout: ann } = await tokens("create", "acme/ann", "--roles", "runner");
  await tokens("create", "acme/bob", "--roles", "viewer");
  const id = tokenDigest(ann.trim()).slice(0, 12);
  const { stdout: listed } = await tokens("list");
  expect(listed).toMatch(new RegExp(`^${id}  acme    ann      runner  never$`, "m"));
  expect(await tokens("revoke", id)).toMatchObject({ code: 0 });
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(/^# people\nsha256:\w+ acme\/bob\/viewer\n$/);
});

test("a change keeps the rights of the file, and the link to it", async () => {
  const target = `${file}.target`;
  writeFileSync(target, "", { mode: 0o600 });
  chmodSync(target, 0o640);
  symlinkSync(target, file);
  expect(await tokens("create", "acme/bob", "--roles", "viewer")).toMatchObject({ code: 0 });
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect(readFileSync(target, "utf8")).toContain("acme/bob/viewer");
});

test("two changes at the same time do not undo each other", async () => {
  writeFileSync(`${file}.new`, "");
  const refused = await tokens("create", "acme/bob", "--roles", "viewer");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("another process changes the tokens");
  expect(existsSync(`${file}.new`)).toBe(true);
});

test.each([
  [
    ["create", "acme/ann", "--roles", "viewer", "--until", "2020-01-31T00:00:00Z"],
    "2020-01-31T00:00:00Z has passed",
  ],
  [["create", "acme/ann", "--roles", "admin"], "unknown role"],
  [["create", "acme", "--roles", "viewer"], "is not `sha256:DIGEST"],
  [["create", "acme/ann", "--roles", "viewer", "--until", "tomorrow"], "the time `tomorrow`"],
  [["revoke", "123456789abc"], "has no token with the id 123456789abc"],
  [["revoke", ""], "has no token with the id"],
])("%j is refused, and the file stays as it was", async (args, problem) => {
  await tokens("create", "acme/bob", "--roles", "viewer");
  const before = readFileSync(file, "utf8");
  const { code, stderr } = await tokens(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
  expect(readFileSync(file, "utf8")).toBe(before);
});
