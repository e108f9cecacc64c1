import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readProviderConfig } from "./provider-config.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-provider-config-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function metadataOf(metadata: Record<string, string>, token = "") {
  const path = join(folder, "providers.json");
  writeFileSync(path, JSON.stringify({ providers: { billing: { target: "a:1", metadata } } }));
  const providers = await readProviderConfig(path, { TOKEN: token });
  return providers.get("billing")?.metadata;
}

const authorization = "Bearer ${TOKEN}";

test("a secret that ends with a newline, as files have it, is sent without it", async () => {
  expect(await metadataOf({ authorization }, "t\n")).toEqual({ authorization: "Bearer t" });
});

test.each(["SECRET\nrest", "SECRET\0", "SECRETé"])(
  "%j in the metadata is refused, and not revealed",
  async (secret) => {
    const refused = await metadataOf({ authorization }, secret).catch(String);
    expect(refused).toMatch(/REEVE_PROVIDERS_CONFIG: .* printable ASCII characters: authorization/);
    expect(refused).not.toContain("SECRET");
  },
);

test.each(["token-bin", "Token", "a b"])("%s is not a key of textual metadata", async (key) => {
  await expect(metadataOf({ [key]: "SECRET" })).rejects.toThrow(/billing.metadata/);
});
