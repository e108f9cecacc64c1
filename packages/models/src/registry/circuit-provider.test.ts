import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelProvider, ModelRequest } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { circuitProvider } from "./circuit-provider.ts";

const never = new AbortController().signal;
const request: ModelRequest = {
  model: create(ModelSpecSchema, { id: "m" }),
  instructions: "",
  messages: [],
  tools: [],
  parallelToolCalls: false,
  temperature: undefined,
  maxTokens: undefined,
};

/** A provider behind a circuit, in a time that a test advances. */
class Guarded {
  readonly clock = new ManualClock();
  /** How the next calls end. Undefined: with an answer. */
  fails: ModelFailure | undefined = new ModelFailure("unavailable", "down");
  /** What a call waits for before it ends. */
  until: Promise<void> = Promise.resolve();
  /** How many calls reached the provider. */
  reached = 0;
  readonly #provider: ModelProvider;

  constructor() {
    const turn = {
      messageJson: "{}",
      finishReason: "stop",
      calls: [],
      usage: undefined,
      model: "m",
    };
    const play = this.#play.bind(this);
    this.#provider = circuitProvider(
      {
        descriptor: create(ProviderDescriptorSchema, { name: "test" }),
        format: "test",
        async *stream() {
          await play();
          yield { kind: "turn", turn };
        },
        media: {
          async *generate() {
            await play();
            yield { kind: "usage", inputTokens: 0, outputTokens: 0 };
          },
        },
      },
      this.clock,
      () => 0,
    );
  }

  async #play(): Promise<void> {
    this.reached += 1;
    await this.until;
    if (this.fails !== undefined) throw this.fails;
  }

  /** Calls the model. Returns the failure; undefined: it answered. */
  async call(signal = never): Promise<ModelFailure | undefined> {
    return await this.#failureOf(this.#provider.stream(request, signal));
  }

  /** As `call`, for a generation of speech. */
  async generate(): Promise<ModelFailure | undefined> {
    const speech = { kind: "speech", model: request.model, text: "hi", format: "mp3" } as const;
    const options = { voice: undefined, instructions: undefined };
    return await this.#failureOf(
      this.#provider.media?.generate({ ...speech, ...options }, never) ?? [],
    );
  }

  async #failureOf(parts: AsyncIterable<unknown> | []): Promise<ModelFailure | undefined> {
    try {
      for await (const _ of parts);
      return undefined;
    } catch (error) {
      if (error instanceof ModelFailure) return error;
      throw error;
    }
  }

  async calls(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await this.call();
  }
}

test("a provider that left five calls in a row unanswered is called by nobody for five seconds", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  expect(guarded.reached).toBe(5);
  await guarded.clock.advance(1_000);
  const refused = await guarded.call();
  expect(refused).toMatchObject({ reason: "paused", retryable: true, retryAfterMs: 4_000 });
  expect(guarded.reached).toBe(5);
});

test("then one call tries it, while the others wait, and an answer lets all through", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  await guarded.clock.advance(5_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  guarded.until = promise;
  guarded.fails = undefined;
  const trial = guarded.call();
  expect(await guarded.call()).toMatchObject({ retryAfterMs: 2_000 });
  expect(guarded.reached).toBe(6);
  resolve();
  expect(await trial).toBeUndefined();
  await guarded.calls(3);
  expect(guarded.reached).toBe(9);
});

test("a trial that hangs lets another call try the provider every ten seconds", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  await guarded.clock.advance(5_000);
  const hung = Promise.withResolvers<void>();
  guarded.until = hung.promise;
  const first = guarded.call();
  await guarded.clock.advance(9_000);
  expect(await guarded.call()).toMatchObject({ reason: "paused", retryAfterMs: 1_000 });
  await guarded.clock.advance(1_000);
  const second = guarded.call();
  expect(await guarded.call()).toMatchObject({ reason: "paused", retryAfterMs: 2_000 });
  expect(guarded.reached).toBe(7);
  await guarded.clock.advance(10_000);
  guarded.until = Promise.resolve();
  guarded.fails = undefined;
  expect(await guarded.call()).toBeUndefined();
  // Both that hang fail late, after the provider has answered another call.
  guarded.fails = new ModelFailure("unavailable", "silent");
  hung.resolve();
  await Promise.all([first, second]);
  guarded.fails = undefined;
  expect(await guarded.call()).toBeUndefined();
});

test("the late failure of a trial that hung does not prolong the pause for the newer one", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  await guarded.clock.advance(5_000);
  const hung = Promise.withResolvers<void>();
  guarded.until = hung.promise;
  const first = guarded.call();
  await guarded.clock.advance(10_000);
  guarded.until = new Promise<void>(() => undefined);
  void guarded.call();
  hung.resolve();
  await first;
  expect(await guarded.call()).toMatchObject({ retryAfterMs: 2_000 });
});

test("an unanswered trial doubles the pause", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  await guarded.clock.advance(5_000);
  await guarded.calls(1);
  expect(await guarded.call()).toMatchObject({ retryAfterMs: 10_000 });
  expect(guarded.reached).toBe(6);
});

test("a trial that is cancelled lets the next call try", async () => {
  const guarded = new Guarded();
  await guarded.calls(5);
  await guarded.clock.advance(5_000);
  const cancelled = new AbortController();
  cancelled.abort(new ModelFailure("unavailable", "cancelled"));
  await guarded.call(cancelled.signal);
  guarded.fails = undefined;
  expect(await guarded.call()).toBeUndefined();
});

test("a refusal shows that the provider answers", async () => {
  const guarded = new Guarded();
  for (let left = 20; left > 0; left--) {
    guarded.fails = new ModelFailure(left % 4 === 0 ? "rate_limited" : "unavailable", "no");
    await guarded.call();
  }
  expect(guarded.reached).toBe(20);
});

test("a call that breaks off within a tool call shows that the provider answers", async () => {
  const guarded = new Guarded();
  guarded.fails = new ModelFailure("unavailable", "cut", { answerBegan: true });
  await guarded.calls(20);
  expect(guarded.reached).toBe(20);
});

test("generations of media share the circuit of calls", async () => {
  const guarded = new Guarded();
  for (let number = 0; number < 5; number++) {
    expect((await guarded.generate())?.reason).toBe("unavailable");
  }
  expect((await guarded.call())?.reason).toBe("paused");
  expect((await guarded.generate())?.reason).toBe("paused");
  expect(guarded.reached).toBe(5);
});
