import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { describe, expect, test } from "vitest";
import { readSecretsConfig } from "../src/secrets/secrets-config.ts";
import { environmentSecrets } from "../src/secrets/environment-secrets.ts";
import { folderSecrets } from "../src/secrets/folder-secrets.ts";
import type { SecretSource } from "../src/secrets/secret-source.ts";
import { Secrets } from "../src/secrets/secrets.ts";
import { VaultSecrets } from "../src/secrets/vault-secrets.ts";
import { startVault } from "./support/vault-server.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", name: "tracker.token-1" };

/** A source, and a way to change what it has. */
interface Tried extends AsyncDisposable {
  readonly source: SecretSource;
  put(tenant: string, name: string, value: string): Promise<void>;
}

async function folder(): Promise<Tried> {
  const { path, [Symbol.asyncDispose]: dispose } = await temporaryFolder();
  const put = async (tenant: string, name: string, value: string) => {
    await mkdir(join(path, tenant), { recursive: true });
    await writeFile(join(path, tenant, name), `${value}\n`);
  };
  return { source: folderSecrets(path), put, [Symbol.asyncDispose]: dispose };
}

function environment(): Promise<Tried> {
  const variables: Record<string, string> = {};
  const names = { acme: { "tracker.token-1": "TRACKER" }, globex: { "tracker.token-1": "OTHER" } };
  const put = (tenant: string, _: string, value: string) => {
    variables[tenant === "acme" ? "TRACKER" : "OTHER"] = value;
    return Promise.resolve();
  };
  return Promise.resolve({
    source: environmentSecrets(names, variables),
    put,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

async function vault(): Promise<Tried> {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startVault());
  const { path } = resources.use(await temporaryFolder());
  const tokenFile = join(path, "token");
  await writeFile(tokenFile, "vault-token-1\n");
  const options = { ...vaultOptions, url: server.url, tokenFile, cacheMs: 0 };
  const put = (tenant: string, name: string, value: string) => {
    const before = server.entries.get(`reeve/${tenant}`);
    server.entries.set(`reeve/${tenant}`, { ...before, [name]: value });
    return Promise.resolve();
  };
  const opened = resources.move();
  return {
    source: new VaultSecrets(options, { now: () => 0 }),
    put,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const vaultOptions = {
  mount: "secret",
  path: "reeve/{tenant}",
  field: "{name}",
  namespace: undefined,
};

describe.each([
  ["a folder", folder],
  ["the environment", environment],
  ["Vault", vault],
])("secrets in %s", (_, open) => {
  test("belong to one tenant, and change with their source", async () => {
    await using tried = await open();
    const { source, put } = tried;
    expect(await source.read(key, never)).toBeUndefined();
    await put("acme", key.name, "value-1");
    expect(await source.read(key, never)).toBe("value-1");
    expect(await source.read({ ...key, tenant: "globex" }, never)).toBeUndefined();
    expect(await source.read({ ...key, name: "other" }, never)).toBeUndefined();
    await put("globex", key.name, "value-of-globex");
    await put("acme", key.name, "value-2");
    expect(await source.read(key, never)).toBe("value-2");
    expect(source.placeOf(key)).toMatch(/acme.*tracker|TRACKER|tracker.*acme/);
  });
});

describe("a folder of secrets", () => {
  test("follows links, as a mounted secret of Kubernetes has them", async () => {
    await using tried = await temporaryFolder();
    const { path } = tried;
    const version = async (name: string, value: string) => {
      await mkdir(join(path, "acme", name), { recursive: true });
      await writeFile(join(path, "acme", name, "token"), value);
      await rm(join(path, "acme/..data"), { force: true });
      await symlink(name, join(path, "acme/..data"));
    };
    await version("..1", "first-value");
    await symlink("..data/token", join(path, "acme/token"));
    const source = folderSecrets(path);
    expect(await source.read({ tenant: "acme", name: "token" }, never)).toBe("first-value");
    await version("..2", "second-value");
    expect(await source.read({ tenant: "acme", name: "token" }, never)).toBe("second-value");
  });

  test("refuses a file that is too large, and does not take a folder for a secret", async () => {
    await using tried = await temporaryFolder();
    const { path } = tried;
    const source = folderSecrets(path);
    await mkdir(join(path, "acme/folder"), { recursive: true });
    await writeFile(join(path, "acme/large"), "x".repeat(70_000));
    await expect(source.read({ tenant: "acme", name: "large" }, never)).rejects.toThrow(
      /acme\/large is larger than 65536 bytes/,
    );
    await expect(source.read({ tenant: "acme", name: "folder" }, never)).rejects.toThrow(
      /cannot be read: EISDIR/,
    );
  });
});

describe("a cache of Vault", () => {
  test("has one request for many calls, and forgets values after their time and failures at once", async () => {
    await using server = await startVault();
    await using files = await temporaryFolder();
    const tokenFile = join(files.path, "token");
    let nowMs = 0;
    const options = { ...vaultOptions, url: server.url, tokenFile, cacheMs: 1_000 };
    const source = new VaultSecrets(options, { now: () => nowMs });
    await expect(source.read(key, never)).rejects.toThrow(
      /token of Vault in .*token cannot be read/,
    );
    await writeFile(tokenFile, "vault-token-0");
    await expect(source.read(key, never)).rejects.toThrow(/status 403; its token is not valid/);
    await writeFile(tokenFile, "vault-token-1");
    server.entries.set("reeve/acme", { [key.name]: "value-1", other: "value-of-other", number: 5 });
    server.reads.length = 0;
    const read = (name: string) => source.read({ ...key, name }, never);
    expect(await Promise.all([read(key.name), read(key.name), read("other")])).toEqual([
      "value-1",
      "value-1",
      "value-of-other",
    ]);
    await expect(read("number")).rejects.toThrow(
      /the field number of reeve\/acme .* is not a text/,
    );
    expect(server.reads).toEqual(["reeve/acme"]);
    expect(processRedaction.text("sent vault-token-1")).toBe("sent [redacted]");
    server.entries.set("reeve/acme", null);
    nowMs = 999;
    expect(await read(key.name)).toBe("value-1");
    nowMs = 1_000;
    expect(await read(key.name)).toBeUndefined();
    expect(server.reads).toEqual(["reeve/acme", "reeve/acme"]);
  });

  test("does not keep a call that ends", async () => {
    await using server = await startVault();
    await using files = await temporaryFolder();
    const tokenFile = join(files.path, "token");
    await writeFile(tokenFile, "vault-token-1");
    const options = { ...vaultOptions, url: server.url, tokenFile, cacheMs: 1_000 };
    const source = new VaultSecrets(options, { now: () => 0 });
    const ended = AbortSignal.abort(new Error("the call has ended"));
    await expect(source.read(key, ended)).rejects.toThrow("the call has ended");
  });
});

describe("secrets", () => {
  test("come from the first source that has them, and are redacted from then on", async () => {
    const redaction = new Redaction();
    const first = sourceOf({ "acme/a": "value-of-a-1" });
    const second = sourceOf({ "acme/a": "value-of-a-2", "acme/b": "value-of-b-2" });
    const secrets = new Secrets([first, second], redaction);
    expect(redaction.text("value-of-b-2")).toBe("value-of-b-2");
    expect(await secrets.value({ tenant: "acme", name: "a" }, never)).toBe("value-of-a-1");
    expect(await secrets.value({ tenant: "acme", name: "b" }, never)).toBe("value-of-b-2");
    expect(redaction.text("value-of-a-1 value-of-b-2")).toBe("[redacted] [redacted]");
  });

  test.each([
    [
      "missing",
      /^the secret missing of tenant acme does not exist; .* add the file \/secrets\/acme\/missing$/,
    ],
    [
      "empty",
      /^the secret empty of tenant acme is empty; correct the file \/secrets\/acme\/empty$/,
    ],
    ["../globex/b", /^the secret ..\/globex\/b of tenant acme cannot exist: names may have only/],
    ["..data", /cannot exist: .* may not begin with a dot/],
  ])("say how to correct %s", async (name, message) => {
    const secrets = new Secrets([sourceOf({ "acme/empty": "" })], new Redaction());
    await expect(secrets.value({ tenant: "acme", name }, never)).rejects.toThrow(message);
  });

  test("are redacted as headers carry them, without white space around them", async () => {
    const redaction = new Redaction();
    const source = environmentSecrets({ acme: { token: "TOKEN" } }, { TOKEN: "canary-12345\n" });
    const secrets = new Secrets([source], redaction);
    expect(await secrets.value({ tenant: "acme", name: "token" }, never)).toBe("canary-12345\n");
    expect(redaction.text("echo canary-12345.")).toBe("echo [redacted].");
  });

  test("say that there is no source", async () => {
    const secrets = new Secrets([], new Redaction());
    await expect(secrets.value(key, never)).rejects.toThrow(/has no REEVE_SECRETS_CONFIG/);
  });
});

describe("the file of sources", () => {
  test("lists all kinds of sources", async () => {
    const sources = await readSources([
      { kind: "folder", path: "/etc/reeve/secrets" },
      { kind: "environment", tenants: { acme: { tracker: "TRACKER" } } },
      { kind: "vault", url: "https://vault.internal:8200", token_file: "/run/vault/token" },
    ]);
    const places = sources.map((each) => each.placeOf({ tenant: "acme", name: "tracker" }));
    expect(places).toEqual([
      "the file /etc/reeve/secrets/acme/tracker",
      "the variable TRACKER of the environment",
      "the field tracker of reeve/acme in the mount secret of Vault",
    ]);
    expect(await readSecretsConfig(undefined, {})).toEqual({ sources: [], networkCredentials: {} });
  });

  test.each([
    [[], /sources/],
    [[{ kind: "folder", path: "secrets" }], /path/],
    [[{ kind: "environment", tenants: { acme: { a: "UNSET" } } }], /the environment has no UNSET/],
    [[{ kind: "environment", tenants: { "../x": { a: "TRACKER" } } }], /REEVE_SECRETS_CONFIG/],
    [[{ kind: "vault", url: "http://vault.internal", token_file: "/t" }], /https/],
    [
      [{ kind: "vault", url: "https://v", token_file: "/t", path: "all", field: "{name}" }],
      /path must contain \{tenant\}/,
    ],
    [
      [{ kind: "vault", url: "https://v", token_file: "/t", path: "all/{tenant}-{name}" }],
      /separated by a slash/,
    ],
    [
      [{ kind: "vault", url: "https://v", token_file: "/t", field: "value" }],
      /path or field must contain \{name\}/,
    ],
  ])("is refused with a mistake: %j", async (sources, message) => {
    await expect(readSources(sources)).rejects.toThrow(message);
  });
});

function sourceOf(values: Readonly<Record<string, string>>): SecretSource {
  return {
    read: ({ tenant, name }) => Promise.resolve(values[`${tenant}/${name}`]),
    placeOf: ({ tenant, name }) => `the file /secrets/${tenant}/${name}`,
  };
}

async function readSources(sources: unknown) {
  await using files = await temporaryFolder();
  const path = join(files.path, "secrets.json");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ sources }));
  return (await readSecretsConfig(path, { TRACKER: "value-1" })).sources;
}
