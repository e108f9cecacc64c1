import { create } from "@bufbuild/protobuf";
import type { ModelCallPurpose } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { promptTokens } from "../../src/domain/model/prompt-tokens.ts";
import type { Setting } from "./played-log.ts";
import type { PlayedRun } from "./run-player.ts";

/** A tool whose descriptor has only a name. */
export const search: ToolDescriptor = create(ToolDescriptorSchema, { name: "search" });
/** A model with a window of 4000 tokens, and an agent with one tool. */
export const small: Setting = {
  prepared: { model: { id: "m", contextWindow: 4_000 }, tools: [search] },
};
/** The purposes of the model calls of a run, in their order. */
export function purposes(run: PlayedRun): readonly ModelCallPurpose[] {
  return run.all("modelCallStarted").map(({ purpose }) => purpose);
}

/** Answers the open step, with this number of tokens as the provider's count of the conversation. */
export function counted(run: PlayedRun, tokens: number): PlayedRun {
  const usage = { inputTokens: tokens - 5, outputTokens: 5 };
  return run.turnIn("", [{ name: "search" }], usage).result(0, "");
}

/** A text with the given number of words, which is estimated at 2.3 times as many tokens. */
export function words(count: number): string {
  return "word ".repeat(count);
}

/** Plays rounds of a tool, each of which adds about 600 tokens to the conversation. */
export function rounds(run: PlayedRun, count: number): PlayedRun {
  for (let round = 0; round < count; round++) {
    const inputTokens = promptTokens(run.state, run.frame());
    run.turnIn("", [{ name: "search" }], { inputTokens }).result(0, words(262));
  }
  return run;
}
