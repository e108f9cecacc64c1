import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ModelCallPurpose } from "@reeve/contracts/run";
import * as fc from "fast-check";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { nextEffects } from "../domain/next-effects.ts";
import type { RenderedRequest } from "../domain/model/model.ts";
import { frameOf } from "../domain/state/run-state.ts";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { modelRequest } from "./models/model-request.ts";

/** Counts what a provider receives, by real tokenizers: the larger of their counts of all texts and schemas. */
function received({ instructions, messages, tools }: RenderedRequest): number {
  const texts = [
    instructions,
    ...messages.flatMap((message) => [
      message.role === "verbatim" ? message.messageJson : "",
      "content" in message ? message.content : "",
      "text" in message ? (message.text ?? "") : "",
      ...("notes" in message ? (message.notes ?? []) : []),
    ]),
    ...tools.map(({ name, description, inputSchema }) =>
      JSON.stringify({ name, description, parameters: inputSchema }),
    ),
  ].join("\n");
  const plain = { disallowedSpecial: new Set<string>() };
  return Math.max(countCl100k(texts, plain), countO200k(texts, plain));
}

const inputPrice = 100;
const outputPrice = 1_000;
const window = 40_000;

interface Scene {
  readonly spec: MessageInitShape<typeof AgentSpecSchema>;
  readonly input: string;
  readonly recalled: readonly string[];
  readonly plan: readonly string[];
  readonly results: readonly string[];
  readonly summary: string;
  readonly reports: boolean;
}

const words = fc.constantFrom(
  "the older messages of a conversation ",
  "模型的上下文窗口是有限的",
  "😀🎉 ",
  `{"path":["a",1],"ok":true} `,
  "aGVsbG8gd29ybGQK/x9Q== ",
  "3f9c0a17-88d2 ",
  "for (const x of y) { z(x); }\n",
);
const text = (most: number) =>
  fc.array(words, { maxLength: most, size: "max" }).map((parts) => parts.join(""));

const scene: fc.Arbitrary<Scene> = fc.record({
  spec: fc.record({
    instructions: text(40),
    planningEnabled: fc.boolean(),
    maxTokens: fc.integer({ min: 16, max: 300 }),
    budgetAwareness: fc.constantFrom("limit:30", "limit:60", "limit:90"),
    injectedToolArgs: fc.dictionary(fc.constantFrom("origin", "surface", "trace"), text(30)),
    budgets: fc.record({ maxCostUsd: fc.double({ min: 1, max: 100, noNaN: true }) }),
  }),
  input: text(60),
  recalled: fc.array(text(30), { maxLength: 1 }),
  plan: fc.array(text(20), { maxLength: 10 }),
  results: fc.array(text(600), { minLength: 1, maxLength: 6 }),
  summary: text(200),
  reports: fc.boolean(),
});

/** Plays a run whose provider counts with real tokenizers, and returns what its calls really cost and how large they were. */
function played({ spec, input, recalled, plan, results, summary, reports }: Scene) {
  const pricing = { inputUsdPerMillion: inputPrice, outputUsdPerMillion: outputPrice };
  const run = new PlayedRun(spec, {
    tools: ["search", "read", "write"].map((name) => ({ name, description: `${name} a thing` })),
    created: { input },
    prepared: {
      model: { id: "m", contextWindow: window, maxOutputTokens: 4_000, pricing },
      recalled: [...recalled],
    },
  });
  let spentUsd = 0;
  const sizes: number[] = [];
  for (let round = 0; run.end === undefined && round < 40; round++) {
    const effect = nextEffects(run.state).find(({ kind }) => kind === "call_model");
    if (effect?.kind !== "call_model") {
      const [tool] = nextEffects(run.state);
      run.result(0, results[round % results.length] ?? "", tool?.frame);
      continue;
    }
    const frame = frameOf(run.state, effect.frame);
    const request = modelRequest(run.state, frame, effect.call, 0);
    const inputTokens = received(request);
    // A provider writes no more than it is asked for, and what it does not report is at least in its message.
    const outputTokens = reports ? (request.maxTokens ?? 4_000) : 5;
    sizes.push(inputTokens);
    // Every input token is written to the cache, at the price that follows from the input price.
    spentUsd += (inputTokens * inputPrice * 1.25 + outputTokens * outputPrice) / 1e6;
    const usage = { inputTokens, outputTokens, cacheWriteInputTokens: inputTokens };
    run.reportsUsage = reports;
    run.summary = summary;
    if (effect.call.purpose === ModelCallPurpose.SUMMARY) run.turnIn(effect.frame, [], usage);
    else if (effect.frame === "planner") {
      run.says(JSON.stringify({ steps: plan })).turnIn(effect.frame, [], usage);
    } else if (round === 2 && effect.frame === "") {
      run.turnIn("", [subtask("part", { additional_context: summary })], usage);
    } else if (round < 12) run.turnIn(effect.frame, [{ name: "search" }], usage);
    else run.says("done", effect.frame).turnIn(effect.frame, [], usage);
  }
  return { run, spentUsd, sizes };
}

describe("by the count of real tokenizers", () => {
  // Requirement: TURN-4, BUD-3, BUD-4
  test("no run costs more than its cap, and no request exceeds its context limit", () => {
    let calls = 0;
    let compactions = 0;
    fc.assert(
      fc.property(scene, (each) => {
        const { run, spentUsd, sizes } = played(each);
        calls += sizes.length;
        compactions += run.all("context").length;
        expect(run.end).toBeDefined();
        expect(spentUsd).toBeLessThanOrEqual((each.spec.budgets?.maxCostUsd ?? 0) + 1e-9);
        const percent = Number(each.spec.budgetAwareness?.slice("limit:".length));
        for (const size of sizes) expect(size).toBeLessThanOrEqual((window * percent) / 100);
        // What the ledger says is what it cost, or more.
        expect(run.state.head.spent.costUsd).toBeGreaterThanOrEqual(
          each.reports ? spentUsd - 1e-9 : 0,
        );
      }),
      { numRuns: 60 },
    );
    expect(calls).toBeGreaterThan(100);
    expect(compactions).toBeGreaterThan(2);
  }, 300_000);
});
