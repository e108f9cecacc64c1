import type { JsonObject } from "@bufbuild/protobuf";
import { RunStatus } from "@reeve/contracts/run";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { expect, test } from "vitest";
import { anthropic, openai, runAgent, tool } from "./index.ts";
import type { ToolOptions } from "./index.ts";

const inputSchema = {
  type: "object",
  properties: { article: { type: "string" } },
  required: ["article"],
};

/** Runs an agent that calls the tool with `args`, and returns the result that its model reads. */
async function called(
  call: ToolOptions["call"],
  args: object,
  schema: JsonObject = inputSchema,
): Promise<unknown> {
  const turns = [{ tool_calls: [{ name: "stock", arguments: args }] }, { text: "Done." }];
  const providers = [scriptedProvider([parseScript(JSON.stringify({ turns }), "s.yaml")])];
  const stock = tool({ name: "stock", description: "Counts articles.", inputSchema: schema, call });
  const run = runAgent({ id: "a", name: "a", model: "scripted:s" }, "go", {
    providers,
    tools: [stock],
    signal: new AbortController().signal,
  });
  let result: unknown;
  for await (const { event } of run.events()) {
    if (event.case !== "toolResult") continue;
    const { content, isError } = event.value.result ?? {};
    result = { content, isError };
  }
  expect((await run.ended).status).toBe(RunStatus.COMPLETED);
  return result;
}

/** A value that a program in JavaScript may return. */
const returned = (value: unknown) => value as string;

test.each<[string, ToolOptions["call"], object, { content: unknown; isError: boolean }]>([
  [
    "text",
    ({ article }) => `12 of ${JSON.stringify(article)}`,
    { article: "chair" },
    { content: '12 of "chair"', isError: false },
  ],
  [
    "an object",
    async () => ({ pieces: 12 }),
    { article: "chair" },
    { content: '{"pieces":12}', isError: false },
  ],
  [
    "an object with a property that is undefined",
    () => returned({ pieces: 12, color: undefined }),
    { article: "chair" },
    { content: '{"pieces":12}', isError: false },
  ],
  ["a number", () => returned(12), { article: "chair" }, { content: "12", isError: false }],
  ["a list", () => returned([1, 2]), { article: "chair" }, { content: "[1,2]", isError: false }],
  ["nothing", () => returned(undefined), { article: "chair" }, { content: "", isError: false }],
  [
    "an error",
    () => {
      throw new Error("no such article");
    },
    { article: "x" },
    { content: "no such article", isError: true },
  ],
  [
    "invalid arguments",
    () => "not called",
    {},
    { content: expect.stringContaining("article"), isError: true },
  ],
])("a model reads %s of a tool of this process", async (_, call, args, result) => {
  expect(await called(call, args)).toEqual(result);
});

test("a schema may have properties that are undefined", async () => {
  const schema = { ...inputSchema, description: undefined } as object as JsonObject;
  expect(await called(() => "12", { article: "chair" }, schema)).toMatchObject({ content: "12" });
});

test.each([
  ["openai", openai],
  ["anthropic", anthropic],
])("%s without a key says which variable to set", (name, provider) => {
  expect(() => provider({ apiKey: "" })).toThrow(
    `${name}() has no key: set ${name.toUpperCase()}_API_KEY, or pass apiKey`,
  );
});

test("an agent names its tools in a plain list", async () => {
  const turns = [{ tool_calls: [{ name: "stock", arguments: {} }] }, { text: "Done." }];
  const providers = [scriptedProvider([parseScript(JSON.stringify({ turns }), "s.yaml")])];
  const ofThisProcess = ["stock", "weather"].map((name) =>
    tool({ name, description: "Looks up.", inputSchema: { type: "object" }, call: () => name }),
  );
  const agent = { id: "a", name: "a", model: "scripted:s", allowedTools: ["stock"] };
  const run = runAgent(agent, "go", {
    providers,
    tools: ofThisProcess,
    signal: new AbortController().signal,
  });
  const offered: (readonly string[])[] = [];
  for await (const { event } of run.events()) {
    if (event.case === "runPrepared") offered.push(event.value.tools.map(({ name }) => name));
  }
  expect(offered).toEqual([["retrieve_artifact", "stock"]]);
});
