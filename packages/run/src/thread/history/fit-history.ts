import { create } from "@bufbuild/protobuf";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { HistoryInput, HistoryMessage } from "@reeve/contracts/thread";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { bytesOf } from "./history-length.ts";
import { userMessage } from "./turn-history.ts";

/** Shortens a message. Returns the same object if it is short enough. */
type Cut = (message: HistoryMessage) => HistoryMessage;

/** Cuts that are applied in this order until the messages fit, each to the oldest messages first. */
const cuts: readonly Cut[] = [
  (message) => cutResult(message, 2_000),
  (message) => cutText(message, 2_000),
  (message) => cutResult(message, 200),
  (message) => cutText(message, 200),
];

/**
 * Reduces the messages of a turn to at most `maxBytes`: cuts the oldest results first, then texts, and finally drops the
 * oldest calls with their results. Cut content says so; the log of the run has everything.
 */
export function fitHistory(
  messages: readonly HistoryMessage[],
  maxBytes: number,
): readonly HistoryMessage[] {
  const fitting = messages.map((message) => ({ message, bytes: bytesOf(message) }));
  let excess = fitting.reduce((sum, { bytes }) => sum + bytes, 0) - maxBytes;
  for (const cut of cuts) {
    for (const [index, { message, bytes }] of fitting.entries()) {
      if (excess <= 0) break;
      const shorter = cut(message);
      const left = shorter === message ? bytes : bytesOf(shorter);
      if (left >= bytes) continue;
      fitting[index] = { message: shorter, bytes: left };
      excess -= bytes - left;
    }
  }
  const whole = fitting.map(({ message }) => message);
  return excess <= 0 ? whole : withoutOldest(whole, maxBytes);
}

function note(left: number): HistoryMessage {
  const text = `[${left} older messages were dropped]`;
  return userMessage(text);
}

/** Returns the newest messages, starting where no result lacks its call, after a note about the dropped ones. */
function withoutOldest(
  messages: readonly HistoryMessage[],
  maxBytes: number,
): readonly HistoryMessage[] {
  let room = maxBytes - bytesOf(note(messages.length));
  let start = messages.length;
  while (start > 0) {
    const message = messages[start - 1];
    room -= message === undefined ? 0 : bytesOf(message);
    if (room < 0) break;
    start -= 1;
  }
  while (messages[start]?.message.case === "toolResult") start += 1;
  return start === 0 ? messages : [note(start), ...messages.slice(start)];
}

function cutResult(history: HistoryMessage, kept: number): HistoryMessage {
  const { message } = history;
  if (message.case !== "toolResult" || message.value.content.length <= kept) return history;
  const value = { ...message.value, content: truncateToBytes(message.value.content, kept) };
  return create(HistoryMessageSchema, { message: { case: "toolResult", value } });
}

/** A cut turn no longer is what its provider sent, so only its text and calls are kept. */
function cutText(history: HistoryMessage, kept: number): HistoryMessage {
  const { message } = history;
  switch (message.case) {
    case "user": {
      return userMessage(truncateToBytes(message.value.text, kept), cutParts(message.value, kept));
    }
    case "assistant": {
      const { text, calls, advisory } = message.value;
      const value = {
        advisory,
        text: truncateToBytes(text, kept),
        // Arguments have to stay JSON.
        calls: calls.map((call) =>
          call.argumentsText.length > kept ? { ...call, argumentsText: "{}" } : call,
        ),
      };
      return create(HistoryMessageSchema, { message: { case: "assistant", value } });
    }
    case "toolResult":
    case undefined:
      return history;
  }
  return history;
}

/** Cuts the texts among the parts of a message. A file is a reference, and stays. */
function cutParts({ parts }: HistoryInput, kept: number): readonly ContentPart[] {
  return parts.map((each) =>
    each.part.case === "text"
      ? create(ContentPartSchema, {
          part: { case: "text", value: truncateToBytes(each.part.value, kept) },
        })
      : each,
  );
}
