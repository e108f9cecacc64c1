import { PermissionClass } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { answering, echo, provided, toolNamed } from "./support/providers/provided-tools.ts";
import type { ServedCall } from "./support/providers/provider-server.ts";
import { textSchema } from "./support/providers/provider-server.ts";

describe("the tools of a provider", () => {
  test("are in the catalog under its name, with their own settings", async () => {
    const tools = [
      { ...echo, permissionClass: "safe", idempotent: true, parallelSafe: false },
      { name: "plain", description: "", exclusiveLock: "door" },
    ];
    await using acme = await provided(answering(""), {}, { tools });
    expect(acme.provider.tools.map(({ descriptor }) => descriptor)).toMatchObject([
      {
        name: "acme__echo",
        source: "provider:acme",
        permissionClass: PermissionClass.SAFE,
        idempotent: true,
        parallelSafe: false,
        inputSchema: textSchema,
      },
      { name: "acme__plain", permissionClass: PermissionClass.NETWORK, exclusiveLock: "door" },
    ]);
  });

  test("follow the policy of the operator", async () => {
    const policy = { permission_class: "secrets", idempotent: false } as const;
    const tools = [{ ...echo, permissionClass: "safe", idempotent: true }];
    await using acme = await provided(answering(""), { tools: { echo: policy } }, { tools });
    const { descriptor } = toolNamed(acme.provider, "acme__echo");
    expect(descriptor).toMatchObject({
      permissionClass: PermissionClass.SECRETS,
      idempotent: false,
    });
  });

  test("are left out when their names, schemas, or classes are invalid, or duplicate", async () => {
    const tools = [
      echo,
      echo,
      { name: "no name" },
      { name: "no_schema", inputSchema: { type: "object", properties: { a: { type: "thing" } } } },
      { name: "no_object", inputSchema: { type: "string" } },
      { name: "no_class", permissionClass: "all" },
    ];
    await using acme = await provided(answering(""), {}, { tools });
    expect(acme.provider.tools.map(({ descriptor }) => descriptor.name)).toEqual(["acme__echo"]);
  });
});

const shouted = {
  type: "object",
  properties: { said: { type: "string" } },
  required: ["said"],
};

/** More properties than a validator is compiled for. */
const many = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, index) => [`p${index}`, { type: "string" }]),
);

// Requirement: WF-1
describe("a tool with an output schema", () => {
  const typed = { ...echo, title: "Echo", outputSchema: shouted, costHint: "model" };

  test("has its title, its schema, and its cost in the catalog", async () => {
    const tools = [
      typed,
      { ...echo, name: "list", outputSchema: { type: "array" } },
      { ...echo, name: "costly", outputSchema: { type: "object", properties: many } },
      { ...echo, name: "dear", costHint: "gold" },
    ];
    await using acme = await provided(answering(""), {}, { tools });
    expect(acme.provider.tools.map(({ descriptor }) => descriptor)).toMatchObject([
      { name: "acme__echo", title: "Echo", outputSchema: shouted, costHint: "model" },
    ]);
  });

  test.each([
    ["matches", { structured: { said: "hi" } }, false, "hi"],
    ["does not match", { structured: { said: 3 } }, true, "said must be string"],
    ["has no structured form", { content: "hi" }, true, "it has no structured form"],
    ["is an error", { content: "no voice", isError: true }, true, "no voice"],
  ])("returns a result that %s, or says what is wrong", async (_, result, isError, content) => {
    const serve = (call: ServedCall) => {
      call.say({ case: "result", value: result });
      call.end();
    };
    await using acme = await provided(serve, {}, { tools: [typed] });
    const outcome = await acme.call();
    expect(outcome.isError).toBe(isError);
    expect(outcome.content).toContain(content);
  });
});
