import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { describe, expect, test } from "vitest";
import { networkCredentials } from "./network-credentials.ts";
import { readSecretsConfig } from "./secrets-config.ts";
import { Secrets } from "./secrets.ts";

const never = new AbortController().signal;

describe("the credentials for hosts in the file", () => {
  const given = { hosts: ["api.example.org:443"], value: "Bearer ${secret:tracker}" };

  test("have the secret of the tenant in their header", async () => {
    const all = await readCredentials({ tracker: { ...given, header: "X-Api-Key" } });
    expect(all).toMatchObject([{ name: "tracker", header: "x-api-key", tenants: undefined }]);
    expect(await all[0]?.value("acme", never)).toEqual({
      text: "Bearer value-123",
      secrets: ["value-123"],
    });
    await expect(all[0]?.value("globex", never)).rejects.toThrow(/of tenant globex does not exist/);
  });

  test.each([
    ["no hosts", { hosts: [] }, /hosts/],
    ["all hosts", { hosts: ["*:443"] }, /is not host:port/],
    ["all ports", { hosts: ["example.org:*"] }, /is not host:port/],
    ["no secret", { value: "Bearer literal" }, /tracker\.value refers to no secret/],
    ["a broken reference", { value: "${secret:../x}" }, /cannot be a secret/],
    ["a header of the connection", { header: "Host" }, /cannot set/],
    ["a header that is no name", { header: "a b" }, /header/],
    ["an authority that cannot be read", { ca_file: "/nonexistent/ca.pem" }, /cannot be read/],
    ["an unknown setting", { paths: ["/v1"] }, /paths/],
  ])("are refused with %s", async (_, change, message) => {
    await expect(readCredentials({ tracker: { ...given, ...change } })).rejects.toThrow(message);
  });
});

async function readCredentials(credentials: unknown) {
  await using files = await temporaryFolder();
  const path = join(files.path, "secrets.json");
  const sources = [{ kind: "environment", tenants: { acme: { tracker: "TRACKER" } } }];
  await writeFile(path, JSON.stringify({ sources, network_credentials: credentials }));
  const config = await readSecretsConfig(path, { TRACKER: "value-123" });
  return await networkCredentials(
    config.networkCredentials,
    new Secrets(config.sources, new Redaction()),
  );
}
