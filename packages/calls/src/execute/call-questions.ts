import { create } from "@bufbuild/protobuf";
import type { Answer as AnswerFact, ToolCallFact } from "@reeve/contracts/tool";
import { AnswerAction, QuestionSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import { questionFact } from "../journal/journal-facts.ts";
import type { Answer, Question } from "../ports/tool.ts";

/** How many questions a tool may ask in one call. */
const maxQuestions = 10;

/** The questions of one call. They are written to its journal, where the runtime writes the answers. */
export class CallQuestions {
  readonly #write: (fact: ToolCallFact, signal: AbortSignal) => Promise<void>;
  readonly #attempt: number;
  readonly #pending = new Map<string, PromiseWithResolvers<Answer>>();
  #count = 0;

  /** `attempt` distinguishes the questions of one attempt of the call from those of another. */
  constructor(attempt: number, write: (fact: ToolCallFact, signal: AbortSignal) => Promise<void>) {
    this.#attempt = attempt;
    this.#write = write;
  }

  /** Asks a person and waits for the answer. Rejects when `signal` aborts, or when the tool has asked too often. */
  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    this.#count++;
    if (this.#count > maxQuestions) {
      const problem = `${question.askedBy} asked more than ${maxQuestions} questions in one call`;
      throw new Failure("exhausted", ErrorReason.INVALID_REQUEST, problem);
    }
    const questionId = `q${this.#attempt}-${this.#count}`;
    const answered = Promise.withResolvers<Answer>();
    this.#pending.set(questionId, answered);
    try {
      signal.throwIfAborted();
      await this.#write(questionFact(create(QuestionSchema, { ...question, questionId })), signal);
      return await abortable(answered.promise, signal);
    } finally {
      this.#pending.delete(questionId);
    }
  }

  /** Delivers an answer from the journal. Discards one for which no question is pending. */
  receive({ questionId, action, content }: AnswerFact): void {
    this.#pending.get(questionId)?.resolve(answerOf(action, content));
  }
}

function answerOf(action: AnswerAction, content: AnswerFact["content"]): Answer {
  if (action === AnswerAction.ACCEPT) return { kind: "accepted", content: content ?? {} };
  return { kind: action === AnswerAction.DECLINE ? "declined" : "cancelled" };
}
