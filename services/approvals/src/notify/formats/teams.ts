import type { Notification } from "@reeve/contracts/notification";
import { describe } from "./describe.ts";

/**
 * Returns a notification for a workflow of Teams that posts an adaptive card. Values are text runs, in which Teams interprets no
 * Markdown, so that nobody can plant a link.
 */
export function teamsMessage(notification: Notification, publicUrl: string) {
  const { title, facts, link, arguments: given } = describe(notification, publicUrl);
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          fallbackText: notification.run === undefined ? "An approval in Reeve" : "A run in Reeve",
          body: [
            line(run(title, { weight: "Bolder", size: "Medium" })),
            ...facts.map(([name, value]) => line(run(`${name}: `, { isSubtle: true }), run(value))),
            ...(given === "" ? [] : [line(run(given, { fontType: "Monospace" }))]),
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open in Reeve", url: link }],
        },
      },
    ],
  };
}

function line(...inlines: readonly object[]) {
  return { type: "RichTextBlock", inlines };
}

function run(text: string, style: object = {}) {
  return { type: "TextRun", text, ...style };
}
