import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

keyStoreContract("a folder", inFolder);
keyStoreContract("Vault", inVault, (tenant) => transit.create(`reeve-${tenant}`));

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

describe("keys in Vault", () => {
  test("of a tenant for which an operator created none count as deleted", async () => {
    await expect(inVault().wrap("nobody", dataKey, never)).rejects.toThrow(
      /the key of tenant nobody was deleted/,
    );
  });

  test("are unavailable with a wrong token, without a token, and while Vault is down", async () => {
    transit.create("reeve-acme");
    const wrong = join(folder, "wrong");
    writeFileSync(wrong, "vault-token-2");
    for (const [store, problem] of [
      [inVault(wrong), /status 403; check its token/],
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

test("the setting names a folder, or a file that says where Vault is", async () => {
  expect(await openKeyStore(join(folder, "not-there"))).toBeInstanceOf(FolderKeyStore);
  const file = join(folder, "vault.json");
  writeFileSync(file, JSON.stringify({ kind: "vault", url: transit.url, token_file: tokenFile }));
  expect(await openKeyStore(file)).toBeInstanceOf(VaultKeyStore);
  writeFileSync(file, JSON.stringify({ kind: "vault", url: "http://vault.internal" }));
  await expect(openKeyStore(file)).rejects.toThrow(/REEVE_ENCRYPTION_KEYS: .*https/s);
});

keyStoreContract("memory", () => memory);
