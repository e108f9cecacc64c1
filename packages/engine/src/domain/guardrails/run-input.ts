import { create } from "@bufbuild/protobuf";
import type { RunCreated, TextRedaction } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import type { MessageText } from "@reeve/run/guardrails/redact-messages";
import { redactMessages } from "@reeve/run/guardrails/redact-messages";

/** Returns what people gave a run at its start: the input, the given messages, and their messages in what it took over from another run. */
export function runInput(created: RunCreated): readonly MessageText[] {
  const { input: text, parts, messages, inherited } = created;
  return [{ text, parts }, ...messages, ...(inherited?.messages ?? []).flatMap(textOfUser)];
}

function textOfUser({ message }: HistoryMessage): readonly MessageText[] {
  return message.case === "user" ? [message.value] : [];
}

/** Returns how a run was started, with what guards replaced in it. */
export function redactedInput(
  created: RunCreated,
  redactions: readonly TextRedaction[],
): RunCreated {
  const [input, ...redacted] = redactMessages<MessageText>(
    runInput(created).map(({ text, parts }) => ({ text, parts })),
    redactions,
  );
  const { messages, inherited } = created;
  const ofUsers = redacted.slice(messages.length).values();
  return {
    ...created,
    input: input?.text ?? "",
    parts: input?.parts ?? [],
    messages: messages.map((each, index) => ({ ...each, ...redacted[index] })),
    ...(inherited && {
      inherited: {
        ...inherited,
        messages: inherited.messages.map((each) => {
          const value = textOfUser(each).length === 0 ? undefined : ofUsers.next().value;
          return value === undefined
            ? each
            : create(HistoryMessageSchema, { message: { case: "user", value } });
        }),
      },
    }),
  };
}
