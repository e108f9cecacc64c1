import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import {
  userMessage,
  toolTurn,
  play,
  providerOf,
  requestOf,
  textOf,
} from "../../test/support/scripted.ts";

describe("a scripted model with several conversations", () => {
  const parts = `
conversations:
  - when: { system: "(?i:planner)" }
    turns: [{ text: a plan }]
  - when: { input: "^part", tools_include: finish }
    turns: [{ text: a part }, { text: the end of a part }]
  - when: { model: m2 }
    turns: [{ text: small }]
turns: [{ text: the root }, { text: the end }]
`;
  const answerTo = async (request: ModelRequest) => {
    const heard = await Array.fromAsync(
      providerOf(parts).stream(request, new AbortController().signal),
    );
    return heard.map((part) => ("text" in part ? part.text : "")).join("");
  };
  const part: PromptMessage = { role: "user", text: "part one" };
  const finish = { tools: [create(ToolDescriptorSchema, { name: "finish" })] };

  test("selects each conversation by its prompt, and the last one if none matches", async () => {
    expect(await answerTo(requestOf([userMessage], { instructions: "You are a Planner" }))).toBe(
      "a plan",
    );
    expect(await answerTo(requestOf([part], finish))).toBe("a part");
    expect(await answerTo(requestOf([part]))).toBe("the root");
    expect(await answerTo(requestOf([userMessage, toolTurn]))).toBe("the end");
    const small = create(ModelSpecSchema, { id: "m2", upstreamName: "weather" });
    expect(await answerTo({ ...requestOf([userMessage]), model: small })).toBe("small");
  });

  test("stays in its conversation after more messages of the user", async () => {
    const more: PromptMessage = { role: "user", text: "go on" };
    expect(await answerTo(requestOf([part, toolTurn, more], finish))).toBe("the end of a part");
  });

  test("names what to add when no conversation matches", async () => {
    const only = "conversations: [{ when: { system: x }, turns: [{ text: hi }] }]";
    await expect(Array.fromAsync(play(only, [userMessage]))).rejects.toThrow(
      /no conversation whose `when` matches: add one to weather.yaml/,
    );
  });

  test("sees the notes on the latest message only", async () => {
    const script = `
turns:
  - alternatives:
      - when: { notes: "9[0-9]%" }
        text: in a hurry
      - text: calm
`;
    const noted: PromptMessage = { ...userMessage, notes: ["used 95% of the window"] };
    expect(await textOf(script, [noted])).toBe("in a hurry");
    expect(await textOf(script, [noted, userMessage])).toBe("calm");
  });
});
