import { spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FolderKeyStore } from "../src/sealing/folder-key-store.ts";
import { MemoryKeyStore } from "../src/sealing/memory-key-store.ts";
import { openKeyStore } from "../src/sealing/open-key-store.ts";
import { VaultKeyStore } from "../src/sealing/vault-key-store.ts";
import { keyStoreContract } from "./support/keys/key-store-contract.ts";
import { startTransit } from "./support/keys/transit-server.ts";

const never = new AbortController().signal;
const dataKey = Buffer.alloc(32, 7);
const folder = mkdtempSync(join(tmpdir(), "reeve-keys-"));
const tokenFile = join(folder, "token");
mkdirSync(join(folder, "keys"), { mode: 0o700 });
let transit: Awaited<ReturnType<typeof startTransit>>;

beforeAll(async () => {
  writeFileSync(tokenFile, "vault-token-1\n");
  transit = await startTransit("vault-token-1");
});
afterAll(async () => {
  await transit[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const memory = new MemoryKeyStore();
const inFolder = () => new FolderKeyStore(join(folder, "keys"));
const inVault = (file = tokenFile) =>
  new VaultKeyStore({
    url: transit.url,
    tokenFile: file,
    mount: "transit",
    keyName: "reeve-{tenant}",
    namespace: undefined,
  });

keyStoreContract("a folder", inFolder, { knowsDeleted: true });
keyStoreContract("Vault", inVault, {
  create: (tenant) => transit.create(`reeve-${tenant}`),
  knowsDeleted: false,
});

describe("a folder of keys", () => {
  test("has one file for each tenant, which only its user reads, and no drafts", async () => {
    await Promise.all(Array.from({ length: 20 }, () => inFolder().wrap("acme", dataKey, never)));
    const files = readdirSync(join(folder, "keys"));
    expect(files).toContain("acme.json");
    expect(files.filter((name) => name.startsWith("."))).toEqual([]);
    expect(statSync(join(folder, "keys")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "keys", "acme.json")).mode & 0o777).toBe(0o600);
  });

  test("gives processes that create a key at the same time the same one", async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => inFolder().wrap("racers", dataKey, never)),
    );
    for (const wrapped of all) {
      expect(Buffer.from(await inFolder().unwrap("racers", wrapped, never))).toEqual(dataKey);
    }
  });

  test("leaves nothing of a deleted key, and says when it was deleted", async () => {
    const path = join(folder, "keys", "former.json");
    await inFolder().wrap("former", dataKey, never);
    const { keys } = JSON.parse(readFileSync(path, "utf8")) as { keys: { key: string }[] };
    await inFolder().delete("former", never);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(keys[0]?.key);
    expect(JSON.parse(text)).toMatchObject({ deleted: expect.stringMatching(/^20/) });
  });

  test("is unavailable, and is not replaced, while a file is missing or damaged", async () => {
    const wrapped = await inFolder().wrap("damaged", dataKey, never);
    const path = join(folder, "keys", "damaged.json");
    const text = readFileSync(path, "utf8");
    for (const broken of ["", "{", '{"keys":[]}', '{"keys":[{"version":"1","key":"c2hvcnQ="}]}']) {
      writeFileSync(path, broken);
      const unavailable = { kind: "unavailable" };
      await expect(inFolder().unwrap("damaged", wrapped, never)).rejects.toMatchObject(unavailable);
      await expect(inFolder().wrap("damaged", dataKey, never)).rejects.toMatchObject(unavailable);
    }
    rmSync(path);
    const missing = await inFolder()
      .unwrap("damaged", wrapped, never)
      .catch((error: unknown) => error);
    expect(String(missing)).not.toContain(folder);
    expect(missing).toMatchObject({
      cause: { message: expect.stringContaining(`${path} is missing`) },
    });
    writeFileSync(path, text);
    expect(Buffer.from(await inFolder().unwrap("damaged", wrapped, never))).toEqual(dataKey);
  });
});

function path(name: string): string {
  return join(folder, "keys", name);
}

describe("changes of a folder of keys", () => {
  const conflict = { kind: "conflict" };

  test("exclude each other, so that a rotation brings back no deleted key and loses no version", async () => {
    await inFolder().wrap("locked", dataKey, never);
    const rotating = inFolder();
    {
      await using _ = await rotating.lock("locked", never);
      await rotating.rotate("locked", never);
      await expect(inFolder().rotate("locked", never)).rejects.toMatchObject(conflict);
      await expect(inFolder().retire("locked", "2", never)).rejects.toMatchObject(conflict);
      await expect(inFolder().delete("locked", never)).rejects.toMatchObject(conflict);
    }
    await inFolder().delete("locked", never);
    await expect(rotating.rotate("locked", never)).rejects.toThrow(/was deleted/);
    expect(readdirSync(join(folder, "keys")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("stop when somebody removed the lock", async () => {
    await inFolder().wrap("unlocked", dataKey, never);
    const text = readFileSync(path("unlocked.json"), "utf8");
    const rotating = inFolder();
    await using _ = await rotating.lock("unlocked", never);
    rmSync(path(".lock-unlocked"));
    await expect(rotating.rotate("unlocked", never)).rejects.toMatchObject(conflict);
    expect(readFileSync(path("unlocked.json"), "utf8")).toBe(text);
  });

  test("replace the lock of a process of this host that has ended, and no other", async () => {
    const ended = spawnSync("true").pid;
    const since = new Date().toISOString();
    const left = { host: hostname(), pid: ended, since, token: "t" };
    writeFileSync(path(".lock-left"), JSON.stringify(left));
    await inFolder().rotate("left", never);
    writeFileSync(path(".lock-left"), JSON.stringify({ ...left, host: "elsewhere" }));
    await expect(inFolder().rotate("left", never)).rejects.toThrow(/elsewhere.*delete .*lock-left/);
    rmSync(path(".lock-left"));
  });

  test.runIf(process.getuid?.() === 0)("by root keep the owner of a file", async () => {
    await inFolder().wrap("owned", dataKey, never);
    chownSync(path("owned.json"), 12_345, 12_346);
    await inFolder().rotate("owned", never);
    expect(statSync(path("owned.json"))).toMatchObject({ uid: 12_345, gid: 12_346 });
    await inFolder().delete("owned", never);
    expect(statSync(path("owned.json"))).toMatchObject({ uid: 12_345, gid: 12_346 });
    const own = join(folder, "of-a-service");
    mkdirSync(own);
    chownSync(own, 12_345, 12_346);
    await new FolderKeyStore(own).wrap("acme", dataKey, never);
    expect(statSync(join(own, "acme.json"))).toMatchObject({ uid: 12_345, mode: 0o100_600 });
  });
});

describe("keys in Vault", () => {
  test.each([
    { status: 404 },
    { status: 404, body: { errors: [] } },
    { status: 404, body: { errors: ["no handler for route 'transit/decrypt/reeve-acme'"] } },
    { status: 400, body: { errors: ["encryption key not found"] } },
  ])("are unavailable, not deleted, with the answer %j", async (answer) => {
    transit.create("reeve-acme");
    const wrapped = await inVault().wrap("acme", dataKey, never);
    transit.state.instead = JSON.stringify(answer);
    onTestFinished(() => void (transit.state.instead = ""));
    const unavailable = { kind: "unavailable" };
    await expect(inVault().unwrap("acme", wrapped, never)).rejects.toMatchObject(unavailable);
    await expect(inVault().wrap("acme", dataKey, never)).rejects.toMatchObject(unavailable);
    await expect(inVault().delete("acme", never)).rejects.toMatchObject(unavailable);
    transit.state.instead = "";
    expect(Buffer.from(await inVault().unwrap("acme", wrapped, never))).toEqual(dataKey);
  });

  test("are unavailable with a wrong token, without a token, and while Vault is down", async () => {
    transit.create("reeve-acme");
    const wrong = join(folder, "wrong");
    writeFileSync(wrong, "vault-token-2");
    for (const [store, problem] of [
      [inVault(wrong), /status 403 .*; check its token/],
      [inVault(join(folder, "none")), /cannot be read/],
    ] as const) {
      await expect(store.wrap("acme", dataKey, never)).rejects.toMatchObject({
        kind: "unavailable",
        message: expect.not.stringContaining(transit.url),
        cause: { message: expect.stringMatching(problem) },
      });
    }
    transit.state.isDown = true;
    const down = inVault().wrap("acme", dataKey, never);
    await expect(down).rejects.toMatchObject({
      kind: "unavailable",
      cause: { message: expect.stringMatching(/status 503/) },
    });
    transit.state.isDown = false;
  });
});

test("a folder is not created, and a folder with the name of a file is refused", async () => {
  const missing = join(folder, "not-there");
  await expect(openKeyStore(missing)).rejects.toThrow(/REEVE_ENCRYPTION_KEYS: .*mkdir -m 700/);
  const keys = new FolderKeyStore(missing);
  await expect(keys.wrap("acme", dataKey, never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(readdirSync(folder)).not.toContain("not-there");
  await expect(openKeyStore(join(folder, "token", "x"))).rejects.toThrow(/cannot be read/);
  mkdirSync(join(folder, "mounted.json"));
  await expect(openKeyStore(join(folder, "mounted.json"))).rejects.toThrow(/name of a file/);
});

test("the setting names a folder, or a file that says where Vault is", async () => {
  expect(await openKeyStore(join(folder, "keys"))).toBeInstanceOf(FolderKeyStore);
  const file = join(folder, "vault.json");
  writeFileSync(file, JSON.stringify({ kind: "vault", url: transit.url, token_file: tokenFile }));
  expect(await openKeyStore(file)).toBeInstanceOf(VaultKeyStore);
  writeFileSync(file, JSON.stringify({ kind: "vault", url: "http://vault.internal" }));
  await expect(openKeyStore(file)).rejects.toThrow(/REEVE_ENCRYPTION_KEYS: .*https/s);
});

keyStoreContract("memory", () => memory, { knowsDeleted: true });
