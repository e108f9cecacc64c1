import { describe, expect, test } from "vitest";
import { readAnswer } from "../src/wire/read-answer.ts";
import type { ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Api } from "./apis.ts";
import { apis, failures, fixture } from "./apis.ts";

interface Heard {
  readonly said: string;
  readonly turn: ModelTurn;
}

/** What is heard of an answer that arrives in these pieces. */
async function heard(api: Api, pieces: readonly Uint8Array[], isCut = false): Promise<Heard> {
  const arriving = async function* () {
    yield* pieces;
    if (isCut) throw new Error("the connection broke");
  };
  // All that is read of a response.
  const response = { body: arriving() } as unknown as Response;
  const signal = new AbortController().signal;
  let said = "";
  for await (const part of readAnswer(response, api.assembly(), "m", failures, signal)) {
    if (part.kind === "turn") return { said, turn: part.turn };
    said += part.text;
  }
  throw new Error("no turn");
}

/** What becomes of an answer: `whole`, why there is none, or something that it should not become. */
async function outcomeOf(answering: Promise<Heard>, whole: ModelTurn): Promise<string> {
  try {
    const { turn } = await answering;
    // A cut may take the usage, which comes last, and nothing else.
    const told = JSON.stringify({ ...turn, usage: turn.usage ?? whole.usage });
    return told === JSON.stringify(whole) ? "whole" : told;
  } catch (error) {
    if (error instanceof ModelFailure) return error.reason;
    return error instanceof Error ? error.message : String(error);
  }
}

describe.each(apis)("over $format, an answer", (api) => {
  test.each(["text", "tool-call", "reasoning"])(
    "of %s may be split at every byte",
    async (name) => {
      const bytes = fixture(api, name);
      const whole = await heard(api, [bytes]);
      for (let place = 1; place < bytes.length; place++) {
        const pieces = [bytes.subarray(0, place), bytes.subarray(place)];
        expect(await heard(api, pieces)).toEqual(whole);
      }
    },
  );

  test.each(["text", "tool-call"])(
    "of %s that is cut at any byte is complete or missing",
    async (name) => {
      const bytes = fixture(api, name);
      const { turn } = await heard(api, [bytes]);
      const ended = new Set<string>();
      const broken = new Set<string>();
      for (let place = 0; place < bytes.length; place++) {
        const pieces = [bytes.subarray(0, place)];
        ended.add(await outcomeOf(heard(api, pieces), turn));
        broken.add(await outcomeOf(heard(api, pieces, true), turn));
      }
      expect(["unavailable", "whole"]).toEqual(expect.arrayContaining([...ended]));
      expect(["the connection broke", "whole"]).toEqual(expect.arrayContaining([...broken]));
    },
  );
});
