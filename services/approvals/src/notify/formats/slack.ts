import type { Notification } from "@reeve/contracts/notification";
import { describe, shortened } from "./describe.ts";

/** The longest text of a section. */
const maxText = 2_900;

/**
 * Returns a notification for an incoming webhook of Slack. All values are plain text, in which Slack interprets no links, no
 * formatting, and no mentions such as `<!channel>`.
 */
export function slackMessage(notification: Notification, publicUrl: string) {
  const { title, facts, link, arguments: given } = describe(notification, publicUrl);
  return {
    // The text of the push message, in which Slack does interpret mentions.
    text: escaped(title),
    blocks: [
      { type: "header", text: plain(shortened(title, 150)) },
      { type: "section", fields: facts.map(([name, value]) => plain(`${name}: ${value}`)) },
      ...(given === "" ? [] : [{ type: "section", text: plain(given.slice(0, maxText)) }]),
      {
        type: "actions",
        elements: [{ type: "button", text: plain("Open in Reeve"), url: link, action_id: "open" }],
      },
    ],
  };
}

function plain(text: string) {
  return { type: "plain_text", text, emoji: false };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
