import { ServerCredentials } from "@grpc/grpc-js";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { beforeAll, expect, test } from "vitest";
import type { ProviderTls } from "../src/tools/providers/provider-config.ts";
import { providerConfig } from "../src/tools/providers/provider-config.ts";
import { ToolProvider } from "../src/tools/providers/tool-provider.ts";
import { contextOf } from "./support/call-context.ts";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { noSecrets } from "./support/no-secrets.ts";
import { ProviderServer } from "./support/providers/provider-server.ts";

const log = createLogger("test", "silent");
let authority: Authority;
let server: CertifiedKey;
let client: CertifiedKey;

beforeAll(async () => {
  authority = await Authority.create();
  server = await authority.certify("tools.example");
  client = await authority.certify("toolhost");
});

/** Returns the tools that a provider with mutual TLS gives to a toolhost with this configuration. */
async function saidTo(tls: ProviderTls | undefined): Promise<string | undefined> {
  const chain = [{ private_key: server.key, cert_chain: server.cert }];
  await using provider = await ProviderServer.start(
    { tools: [{ name: "whisper" }] },
    (call) => {
      call.say({ case: "result", value: { content: "for your ears only" } });
      call.end();
    },
    ServerCredentials.createSsl(authority.ca, chain, true),
  );
  const target = `127.0.0.1:${provider.port}`;
  const config = providerConfig({ target, ...(tls && { tls }) });
  await using known = new ToolProvider("acme", config, {
    log,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await known.tried;
  const outcome = await known.tools[0]?.call(contextOf(), new AbortController().signal);
  return outcome?.content;
}

// Requirement: HOST-5
test("a provider and its toolhost authenticate each other by certificates", async () => {
  const tls = { ca: authority.ca, ...client, serverName: "tools.example" };
  expect(await saidTo(tls)).toBe("for your ears only");
});

test.each<[string, () => ProviderTls | undefined]>([
  ["speaks in the clear", () => undefined],
  [
    "shows no certificate",
    () => ({ ca: authority.ca, cert: null, key: null, serverName: "tools.example" }),
  ],
  ["expects another name", () => ({ ca: authority.ca, ...client, serverName: "other.example" })],
  [
    "trusts others only",
    () => ({ ca: null, cert: client.cert, key: client.key, serverName: "tools.example" }),
  ],
])("a toolhost that %s gets no tools", async (_, tls) => {
  expect(await saidTo(tls())).toBeUndefined();
});
