import { create } from "@bufbuild/protobuf";
import { disjoint, redactText } from "@reeve/agent/guardrails/text-span";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import type { TextRedaction } from "@reeve/contracts/run";

/** A message with its parts. */
export interface MessageText {
  readonly text: string;
  readonly parts: ContentPart[];
}

/** Returns the texts of messages in the order in which redactions number them: the text of each, and its parts that are text. */
export function textsOf(messages: readonly MessageText[]): readonly string[] {
  return messages.flatMap(({ text, parts }) => [
    text,
    ...parts.flatMap(({ part }) => (part.case === "text" ? [part.value] : [])),
  ]);
}

/** Returns messages as models read them after redactions. The same messages if there are none. */
export function redactMessages<Given extends MessageText>(
  messages: readonly Given[],
  redactions: readonly TextRedaction[],
): readonly Given[] {
  if (redactions.length === 0) return messages;
  let index = 0;
  const next = (text: string) => redactAt(text, index++, redactions);
  return messages.map((message) => ({
    ...message,
    text: next(message.text),
    parts: message.parts.map((each) =>
      each.part.case === "text"
        ? create(ContentPartSchema, { part: { case: "text", value: next(each.part.value) } })
        : each,
    ),
  }));
}

/** Returns the text with a number as models read it after redactions. */
export function redactAt(
  text: string,
  index: number,
  redactions: readonly TextRedaction[],
): string {
  return redactText(text, disjoint(redactions.filter((each) => each.text === index)));
}
