import type { Notification } from "@reeve/contracts/notification";
import { describe } from "./describe.ts";

/** Returns subject and text of an e-mail. It has no HTML, so no value of an agent is interpreted. */
export function emailMessage(notification: Notification, publicUrl: string) {
  const { title, facts, link, arguments: given } = describe(notification, publicUrl);
  const lines = [
    title,
    "",
    ...facts.map(([name, value]) => `${name}: ${value}`),
    ...(given === "" ? [] : ["", "Arguments:", given]),
    "",
    notification.run === undefined
      ? "Sign in to see the whole request and to decide:"
      : "Sign in to see the run:",
    link,
  ];
  return { subject: `[Reeve] ${title}`, text: `${lines.join("\n")}\n` };
}
