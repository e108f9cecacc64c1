import type { JsonObject } from "@bufbuild/protobuf";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { ApprovalState } from "@reeve/contracts/approval";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { answerFrom, answerShape } from "../../decisions/questions/answer-shape.ts";
import { sendAnswer } from "../../decisions/questions/send-answer.ts";
import { UsageError } from "../../exit-code.ts";
import { parseObject } from "../parse-option.ts";

/** Answers a question of an agent, or declines it. */
export function answerCommand(context: Context): Command {
  const command = new Command("answer")
    .description("Answer a question of an agent. The run continues.")
    .argument("<question>", "id of the question, as `approvals` lists it")
    .argument("[words...]", "the answer: a text, or choices or their numbers")
    .option("--answer <json>", "the answer as a JSON object, for a form", parseObject)
    .option("--decline", "decline to answer")
    .option("--reason <text>", "reason for declining, which the model sees");
  interface Options {
    readonly answer?: JsonObject;
    readonly decline?: true;
    readonly reason?: string;
  }
  return command.action((approvalId: string, words: readonly string[], options: Options) =>
    withClient(context, command, async (reeve) => {
      const { answer: form, decline, reason = "" } = options;
      const given = [words.length > 0, form !== undefined, decline === true].filter(Boolean);
      if (given.length !== 1) {
        throw new UsageError("give one of: the words of an answer, --answer, and --decline");
      }
      const { signal } = context;
      const asked = await reeve.getApproval(approvalId, { signal });
      if (!isAgentQuestion(asked)) {
        throw new UsageError(
          `${approvalId} is no question of an agent; decide it with ${context.reeve} approve or reject`,
        );
      }
      const answer =
        form ?? (decline ? undefined : answerFrom(answerShape(asked.question ?? {}), words));
      if (typeof answer === "string") throw new UsageError(answer);
      const after = await sendAnswer(
        reeve,
        { approvalId, reason, ...(answer && { answer }) },
        signal,
      );
      const done = decline ? "declined" : "answered";
      const isPending = after.state === ApprovalState.PENDING;
      context.terminal.out(`${approvalId} ${isPending ? "waits for others" : done}\n`);
    }),
  );
}
