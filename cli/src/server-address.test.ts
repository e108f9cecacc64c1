import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { currentHolder, lockFileOf } from "./embedded/data-dir-lock.ts";
import { serverAddress } from "./server-address.ts";

/** Returns a data folder with a token, and with the address of its server while that runs. */
function dataFolder(url?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-address-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "token"), "of-the-folder\n");
  if (url !== undefined) {
    writeFileSync(join(folder, "url"), `${url}\n`);
    writeFileSync(lockFileOf(folder), currentHolder());
  }
  return folder;
}

/** Returns the selected data folder of which no server runs. */
function stopped(options: object, environment: NodeJS.ProcessEnv = {}): string | undefined {
  return serverAddress(options, environment).stoppedDataDir;
}

test.each<[string, string | undefined, string | undefined]>([
  ["no address is given", "http://127.0.0.1:5000", undefined],
  ["no address is given or stored", undefined, undefined],
  ["the stored address is given", "http://127.0.0.1:5000", "http://127.0.0.1:5000/"],
  ["another name of this machine is given", "http://127.0.0.1:5000", "http://localhost:5000"],
  ["the default address is given", undefined, "http://[::1]:4680"],
])("the token of the data folder is used if %s", (_, stored, url) => {
  const dataDir = dataFolder(stored);
  expect(serverAddress({ dataDir, url }, {}).token).toBe("of-the-folder");
  expect(serverAddress({ dataDir }, { REEVE_URL: url }).token).toBe("of-the-folder");
});

test.each<[string, string | undefined, string]>([
  ["another host", "http://127.0.0.1:5000", "http://reeve.example:5000"],
  ["another port", "http://127.0.0.1:5000", "http://127.0.0.1:4680"],
  ["another protocol", "http://127.0.0.1:5000", "https://127.0.0.1:5000"],
  ["a host whose name begins with the address", undefined, "http://127.0.0.1.evil.example:4680"],
  ["a host after the address as a user name", undefined, "http://127.0.0.1:4680@evil.example"],
])("the token of the data folder is not sent to %s", (_, stored, url) => {
  const dataDir = dataFolder(stored);
  expect(serverAddress({ dataDir, url }, {}).token).toBeUndefined();
  expect(serverAddress({ dataDir }, { REEVE_URL: url }).token).toBeUndefined();
  expect(serverAddress({ dataDir, url, token: "given" }, {}).token).toBe("given");
});

test("a selected data folder without an address has no server, unless an address or a token is given", () => {
  const dataDir = dataFolder();
  expect(stopped({ dataDir })).toBe(dataDir);
  const url = "http://127.0.0.1:4680";
  expect(stopped({ dataDir, url })).toBeUndefined();
  expect(stopped({ dataDir, token: "given" })).toBeUndefined();
  expect(stopped({ dataDir }, { REEVE_URL: url })).toBeUndefined();
  expect(stopped({ dataDir: dataFolder(url) })).toBeUndefined();
  expect(stopped({}, { REEVE_DATA_DIR: dataDir })).toBeUndefined();
});

test("the token of the data folder is not sent to the address of a server that was killed", () => {
  const url = "http://127.0.0.1:5000";
  const dataDir = dataFolder(url);
  const [pid] = currentHolder().split(" ");
  writeFileSync(lockFileOf(dataDir), `${pid} of-an-earlier-process`);
  expect(serverAddress({ dataDir, url }, {}).token).toBeUndefined();
  expect(serverAddress({ dataDir }, {}).url).toBe("http://127.0.0.1:4680");
  expect(stopped({ dataDir })).toBe(dataDir);
});

test("a data folder that does not exist is an error, unless an address is given", () => {
  const dataDir = join(dataFolder(), "gone");
  expect(() => serverAddress({ dataDir }, {})).toThrow(`data folder ${dataDir} does not exist`);
  const url = "http://127.0.0.1:5000";
  expect(serverAddress({ dataDir, url }, {})).toMatchObject({ url, token: undefined });
  expect(serverAddress({}, { REEVE_DATA_DIR: dataDir }).token).toBeUndefined();
});
