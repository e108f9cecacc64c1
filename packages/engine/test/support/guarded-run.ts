import type { JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { GuardAction, GuardActionSchema } from "@reeve/contracts/run";
import type { ModelPart, ModelProvider, ModelRequest } from "../../src/ports/model-provider.ts";
import { countingModel } from "./models.ts";
import { WorkerBench } from "./worker-bench.ts";

type Spec = MessageInitShape<typeof AgentSpecSchema>;

/** An answer of the model of a guarded run: its text, and the calls that it makes. */
export interface ScriptedAnswer {
  readonly text?: string;
  /** Default: `tool_calls` for an answer with calls, otherwise `stop`. */
  readonly finish?: string;
  readonly calls?: readonly (readonly [name: string, args: string])[];
}

/** Returns a section of guards. */
export function guardrails(section: JsonValue): Pick<Spec & object, "sections"> {
  return { sections: { guardrails: fromJson(ValueSchema, section) } };
}

/** A run whose model gives these answers, one in each turn, and the last one again. `verdict` answers for the model of guards, or throws. */
export class GuardedRun {
  /** The requests for answers, without those for verdicts. */
  readonly requests: ModelRequest[] = [];
  /** The texts that the model of guards was shown. */
  readonly checked: string[] = [];
  /** Whose the calls of the model of guards were. */
  readonly owners: ModelRequest["owner"][] = [];
  readonly bench: WorkerBench;
  readonly #answer: (request: ModelRequest) => ScriptedAnswer;
  readonly #verdict: (text: string) => string;

  constructor(
    answers: readonly ScriptedAnswer[] | ((request: ModelRequest) => ScriptedAnswer),
    verdict: (text: string) => string = () => '{"verdict":"pass","reason":""}',
  ) {
    this.#answer =
      typeof answers === "function"
        ? answers
        : ({ messages }) => {
            const turns = messages.filter(({ role }) => role === "verbatim").length;
            return answers[Math.min(turns, answers.length - 1)] ?? {};
          };
    this.#verdict = verdict;
    const provider: ModelProvider = {
      ...countingModel(0),
      stream: (request) => this.#stream(request),
    };
    this.bench = new WorkerBench(provider);
  }

  /** Drives the run to its end or its next wait. */
  async drive(spec: Spec, more: Parameters<WorkerBench["create"]>[1] = {}): Promise<this> {
    await this.bench.create(spec, more);
    await this.bench.drive("w");
    return this;
  }

  async *#stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const usage = {
      inputTokens: 10,
      outputTokens: 1,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      reasoningTokens: 0,
    };
    if (request.instructions.startsWith("You check")) {
      const [message] = request.messages;
      const text = message?.role === "user" ? String(JSON.parse(message.text).text) : "";
      this.checked.push(text);
      this.owners.push(request.owner);
      yield { kind: "text", text: this.#verdict(text) };
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "judge" };
      yield { kind: "turn", turn };
      return;
    }
    this.requests.push(request);
    const { text = "", calls = [], finish } = this.#answer(request);
    if (text !== "") yield { kind: "text", text };
    const made = calls.map(([name, argumentsText], index) => ({
      providerCallId: `p${this.requests.length}-${index}`,
      name,
      argumentsText,
    }));
    const finishReason = finish ?? (made.length > 0 ? "tool_calls" : "stop");
    const messageJson = JSON.stringify({ text });
    yield {
      kind: "turn",
      turn: { messageJson, finishReason, calls: made, usage, model: "test" },
    };
  }

  /** What the model of the run read in its request with a number, from 0, as one text. */
  read(index: number): string {
    return JSON.stringify(this.requests[index]?.messages ?? []);
  }

  /** The verdicts that did not pass, as `guard: ACTION`. */
  async verdicts(): Promise<readonly string[]> {
    const events = await this.bench.events();
    return events.flatMap(({ event }) =>
      event.case === "pluginHookFinished"
        ? event.value.guards
            .filter(({ action }) => action !== GuardAction.PASS)
            .map(
              ({ guard, action }) =>
                `${guard}: ${GuardActionSchema.value[action]?.localName ?? ""}`,
            )
        : [],
    );
  }
}
/** Makes JSON readable that has verbatim messages of the model as bytes. */
export function asText(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
