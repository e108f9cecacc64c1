import { describe, expect, test } from "vitest";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import {
  userMessage,
  toolTurn,
  play,
  providerOf,
  requestOf,
  turnOf,
} from "../../test/support/scripted.ts";

describe("a scripted turn", () => {
  test("reports the usage of the script", async () => {
    const script = "turns: [{ text: hi, usage: { input_tokens: 900, output_tokens: 20 } }]";
    expect((await turnOf(script, [userMessage])).usage).toEqual({
      inputTokens: 900,
      outputTokens: 20,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      reasoningTokens: 0,
    });
  });

  test("fails as a provider would", async () => {
    const script = `
turns:
  - fail: { reason: rate_limited, message: slow down, retry_after_ms: 50 }
  - fail: { reason: unavailable, message: gone for good, retryable: false }
`;
    await expect(Array.fromAsync(play(script, [userMessage]))).rejects.toMatchObject({
      name: "ModelFailure",
      reason: "rate_limited",
      message: "slow down",
      retryable: true,
      retryAfterMs: 50,
    });
    await expect(Array.fromAsync(play(script, [userMessage, toolTurn]))).rejects.toMatchObject({
      reason: "unavailable",
      retryable: false,
    });
  });

  test("is answered after its number of failures per prompt, which is then counted anew", async () => {
    const provider = providerOf(`
turns:
  - text: at last
    fail: { reason: unavailable, message: not yet, times: 2, after_words: 1 }
`);
    const attempt = async (text: string) => {
      const heard: string[] = [];
      const request = requestOf([{ role: "user", text }]);
      try {
        for await (const part of provider.stream(request, new AbortController().signal)) {
          heard.push("text" in part ? part.text : part.kind);
        }
      } catch (error) {
        heard.push(error instanceof ModelFailure ? error.message : "another error");
      }
      return heard;
    };
    const failed = ["at ", "not yet"];
    const answered = ["at ", "last", "turn"];
    expect(await attempt("a")).toEqual(failed);
    expect(await attempt("b")).toEqual(failed);
    expect(await attempt("a")).toEqual(failed);
    expect(await attempt("a")).toEqual(answered);
    expect(await attempt("b")).toEqual(failed);
    expect(await attempt("a")).toEqual(failed);
  });
});
