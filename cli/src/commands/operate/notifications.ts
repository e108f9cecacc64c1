import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { DeadNotification } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { DeadNotificationSchema } from "@reeve/contracts/notification";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";
import { printList } from "../print-list.ts";

/** Lists and replays notifications that could not be delivered. */
export function notificationsCommand(context: Context): Command {
  return new Command("notifications")
    .description("Notifications that were given up. Needs the role operator.")
    .addCommand(listCommand(context))
    .addCommand(replayCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List the notifications of the last 30 days that were given up.")
    .option("--receiver <name>", "only notifications for this receiver")
    .option("--json", "print one notification per line as JSON");
  const format = {
    header: ["NOTIFICATION", "GIVEN UP", "RECEIVER", "ABOUT", "PROBLEM"],
    row: rowOf,
    empty: "no notification was given up",
  };
  return command.action(
    ({ receiver, json }: { readonly receiver?: string; readonly json?: true }) =>
      withClient(context, command, async (reeve) => {
        const { terminal, signal } = context;
        const found = reeve.deadNotifications.list({ receiver, signal });
        await printList(terminal, DeadNotificationSchema, found, format, json === true);
      }),
  );
}

function replayCommand(context: Context): Command {
  const command = new Command("replay")
    .description(
      "Send notifications again that were given up. They keep their ids, by which receivers recognize what they have.",
    )
    .argument("[notifications...]", "ids of the notifications")
    .option("--all", "all notifications that were given up")
    .option("--receiver <name>", "with --all: only notifications for this receiver");
  interface Options {
    readonly all?: true;
    readonly receiver?: string;
  }
  return command.action((ids: readonly string[], { all, receiver }: Options) => {
    if ((ids.length === 0) === (all === undefined)) {
      command.error("error: name notifications, or use --all");
    }
    return withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const chosen =
        all === undefined
          ? ids
          : await Array.fromAsync(reeve.deadNotifications.list({ receiver, signal }), idOf);
      let count = 0;
      for (const id of chosen) {
        try {
          await reeve.deadNotifications.replay(id, { signal });
          count++;
        } catch (error) {
          // Somebody else replayed it meanwhile.
          if (all === undefined || !isGone(error)) throw error;
        }
      }
      terminal.out(`${count} queued again\n`);
    });
  });
}

function rowOf({ notification, problem, givenUpAt }: DeadNotification): readonly string[] {
  return [
    notification?.notificationId ?? "",
    givenUpAt === undefined ? "" : timestampDate(givenUpAt).toISOString(),
    notification?.receiver ?? "",
    notification?.approval?.approvalId ?? notification?.run?.runId ?? "",
    oneLine(problem, 80),
  ];
}

function idOf({ notification }: DeadNotification): string {
  return notification?.notificationId ?? "";
}

function isGone(error: unknown): boolean {
  return error instanceof ReeveError && error.reason === "NOTIFICATION_NOT_FOUND";
}
