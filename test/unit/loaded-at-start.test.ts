import { join } from "node:path";
import { expect, test } from "vitest";
import { loadedWith } from "./architecture/imports.ts";

const root = join(import.meta.dirname, "../..");
const sdks = [
  "@anthropic-ai/sdk",
  "openai",
  "nodemailer",
  "@modelcontextprotocol/client",
  "@a2a-js/sdk",
];

test.each(["gateway", "runtime", "toolhost", "approvals"])(
  "the service %s starts without SDKs that its settings may not need",
  (service) => {
    const loaded = loadedWith(root, `services/${service}/src/main.ts`);
    expect(loaded).toContain(`services/${service}/src/serve.ts`);
    const unneeded = [...loaded].filter((each) =>
      sdks.some((name) => each === name || each.startsWith(`${name}/`)),
    );
    expect(unneeded).toEqual([]);
  },
);

test("an SDK is found where it is used", () => {
  const loaded = loadedWith(root, "services/toolhost/src/tools/mcp/mcp-server.ts");
  expect(loaded).toContain("@modelcontextprotocol/client");
});
