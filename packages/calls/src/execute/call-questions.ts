import { create } from "@bufbuild/protobuf";
import type { Answer, ToolCallFact } from "@reeve/contracts/tool";
import { AnswerAction, QuestionSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { AskedQuestion, GivenAnswer } from "../ports/tool.ts";
import { questionFact } from "../journal/journal-facts.ts";

/** How often a tool may ask in one call. */
const maxQuestions = 10;

/** The questions of one call: written to its journal, and answered there by the runtime. */
export class CallQuestions {
  readonly #write: (fact: ToolCallFact, signal: AbortSignal) => Promise<void>;
  readonly #attempt: number;
  readonly #waiting = new Map<string, PromiseWithResolvers<GivenAnswer>>();
  #asked = 0;

  /** `attempt` tells the questions of one attempt of the call from those of another. */
  constructor(attempt: number, write: (fact: ToolCallFact, signal: AbortSignal) => Promise<void>) {
    this.#attempt = attempt;
    this.#write = write;
  }

  /** Asks a person, and waits. Rejects when `signal` aborts, or the tool has asked too often. */
  async ask(question: AskedQuestion, signal: AbortSignal): Promise<GivenAnswer> {
    this.#asked++;
    if (this.#asked > maxQuestions) {
      const problem = `${question.askedBy} asks too much: more than ${maxQuestions} questions in one call`;
      throw new Failure("exhausted", ErrorReason.INVALID_REQUEST, problem);
    }
    const questionId = `q${this.#attempt}-${this.#asked}`;
    const waiting = Promise.withResolvers<GivenAnswer>();
    // Whoever asked may be gone when it is answered.
    waiting.promise.catch(() => undefined);
    this.#waiting.set(questionId, waiting);
    const abort = () => waiting.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#write(questionFact(create(QuestionSchema, { ...question, questionId })), signal);
      return await waiting.promise;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#waiting.delete(questionId);
    }
  }

  /** Takes what the journal says; an answer that nobody waits for is dropped. */
  take({ questionId, action, content }: Answer): void {
    this.#waiting.get(questionId)?.resolve(answerOf(action, content));
  }
}

function answerOf(action: AnswerAction, content: Answer["content"]): GivenAnswer {
  if (action === AnswerAction.ACCEPT) return { kind: "accepted", content: content ?? {} };
  return { kind: action === AnswerAction.DECLINE ? "declined" : "cancelled" };
}
