import { allRoles } from "@reeve/platform/rpc/roles";
import { expect, test } from "vitest";
import { serviceConfigs } from "./service-configs.ts";

const parts = {
  listen: "127.0.0.1:0",
  dataDir: "/data",
  token: "token-of-the-user",
  internalToken: "internal-token-of-a-test",
  receiptKeyFile: "/tmp/none/receipt-key.pem",
};

const tokensWith = (settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(serviceConfigs(settings, parts).gateway("http://127.0.0.1:1").REEVE_TOKENS);

test("REEVE_TOKENS adds to the token of the local user", () => {
  const me = { "token-of-the-user": { tenant: "local", subject: "me", roles: allRoles } };
  expect(tokensWith({})).toEqual(me);
  expect(tokensWith({ REEVE_TOKENS: "token-of-ada=acme/ada" })).toEqual({
    ...me,
    "token-of-ada": { tenant: "acme", subject: "ada", roles: allRoles },
  });
  expect(() => tokensWith({ REEVE_TOKENS: "short" })).toThrow("REEVE_TOKENS");
});

test("settings for TLS are refused, because they would have no effect", () => {
  const settings = { REEVE_TLS_CERT_FILE: "/tls.crt", REEVE_TLS_KEY_FILE: "/tls.key" };
  expect(() => serviceConfigs(settings, parts)).toThrow(
    "REEVE_TLS_CERT_FILE and REEVE_TLS_KEY_FILE cannot be used here",
  );
  expect(() => serviceConfigs({ REEVE_TLS_CERT_FILE: "" }, parts)).not.toThrow();
});
