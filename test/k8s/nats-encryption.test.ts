import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { MemorySchema } from "@reeve/contracts/memory";
import { openTable } from "@reeve/jetstream/table/nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { repository } from "./support/render.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-encryption-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Values {
  readonly config: { readonly jetstream: { readonly merge: Readonly<Record<string, string>> } };
}

/** Writes the settings of the chart's values as the chart does, with a key in the place of the variable. */
function settings(): string {
  const path = join(repository, "deploy/k8s/values/nats-encryption.yaml");
  const { cipher, key } = (parse(readFileSync(path, "utf8")) as Values).config.jetstream.merge;
  expect(key).toBe("<< $JETSTREAM_KEY >>");
  const file = join(folder, "nats.conf");
  writeFileSync(file, `jetstream { cipher: ${cipher}, key: "${"k".repeat(32)}" }`);
  return file;
}

/** Starts a server on the store, and stores a text. Returns all texts that are stored. */
async function storeText(text: string, configFile?: string): Promise<readonly string[]> {
  const storeDir = join(folder, "store");
  await using server = await startNatsServer({ storeDir, configFile, log }, never);
  await using nats = await connectNats(server.url, { name: "test", log }, never);
  const table = await openTable(nats, MemorySchema);
  await table.put(`acme.${text.length}`, create(MemorySchema, { text }), never);
  return (await table.list("acme", never)).map(({ record }) => record.text);
}

/** Whether a file below the store has a text, in its name or in its bytes. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(join(folder, "store"), { recursive: true, withFileTypes: true });
  return files.some(
    (file) =>
      file.name.includes(text) ||
      (file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text)),
  );
}

test("what is stored cannot be read from the disk of an encrypted store, and a store from before is encrypted when its server starts", async () => {
  expect(await storeText("canary-in-plain-text")).toEqual(["canary-in-plain-text"]);
  expect(isOnDisk("canary-in-plain-text")).toBe(true);
  const texts = await storeText("canary-in-secret", settings());
  expect(texts.toSorted()).toEqual(["canary-in-plain-text", "canary-in-secret"]);
  expect(isOnDisk("canary-in-secret")).toBe(false);
  expect(isOnDisk("canary-in-plain-text")).toBe(false);
});
