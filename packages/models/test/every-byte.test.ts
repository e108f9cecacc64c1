import { describe, expect, test } from "vitest";
import { readAnswer } from "../src/wire/read-answer.ts";
import type { ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Api } from "./apis.ts";
import { apis, failures, fixture } from "./apis.ts";

interface ReadAnswer {
  readonly text: string;
  readonly turn: ModelTurn;
}

/** Reads an answer that arrives in these pieces. */
async function readPieces(
  api: Api,
  pieces: readonly Uint8Array[],
  isCut = false,
): Promise<ReadAnswer> {
  const arriving = async function* () {
    yield* pieces;
    if (isCut) throw new Error("the connection broke");
  };
  // The only parts of a response that `readAnswer` uses.
  const response = { body: arriving(), headers: new Headers() } as unknown as Response;
  const signal = new AbortController().signal;
  let text = "";
  for await (const part of readAnswer(response, api.assembly(), "m", failures, signal)) {
    if (part.kind === "turn") return { text, turn: part.turn };
    if ("text" in part) text += part.text;
  }
  throw new Error("no turn");
}

/** Returns `complete`, the reason why there is no answer, or the turn if it is neither. */
async function outcomeOf(answering: Promise<ReadAnswer>, whole: ModelTurn): Promise<string> {
  try {
    const { turn } = await answering;
    // A cut may remove the usage, which comes last, and nothing else.
    const json = JSON.stringify({ ...turn, usage: turn.usage ?? whole.usage });
    return json === JSON.stringify(whole) ? "complete" : json;
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
      const whole = await readPieces(api, [bytes]);
      for (let place = 1; place < bytes.length; place++) {
        const pieces = [bytes.subarray(0, place), bytes.subarray(place)];
        expect(await readPieces(api, pieces)).toEqual(whole);
      }
    },
  );

  test.each(["text", "tool-call"])(
    "of %s that is cut at any byte is complete or missing",
    async (name) => {
      const bytes = fixture(api, name);
      const { turn } = await readPieces(api, [bytes]);
      const ended = new Set<string>();
      const broken = new Set<string>();
      for (let place = 0; place < bytes.length; place++) {
        const pieces = [bytes.subarray(0, place)];
        ended.add(await outcomeOf(readPieces(api, pieces), turn));
        broken.add(await outcomeOf(readPieces(api, pieces, true), turn));
      }
      expect(["unavailable", "complete"]).toEqual(expect.arrayContaining([...ended]));
      expect(["the connection broke", "complete"]).toEqual(expect.arrayContaining([...broken]));
    },
  );
});
