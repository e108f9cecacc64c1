import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";

/** Adds a comment to a call that waits. */
export function commentCommand(context: Context): Command {
  const command = new Command("comment")
    .description("Comment on a call that waits, for those who decide. It decides nothing.")
    .argument("<approval>", "id of the approval")
    .argument("<text>", "the comment");
  return command.action((approvalId: string, text: string) =>
    withClient(context, command, async (reeve) => {
      const { comments } = await reeve.approvals.comment(approvalId, text, context);
      const count = `${comments.length} comment${comments.length === 1 ? "" : "s"}`;
      context.terminal.out(`${oneLine(approvalId, 256)} has ${count}\n`);
    }),
  );
}

/** Says who takes care of a call that waits. */
export function assignCommand(context: Context): Command {
  const command = new Command("assign")
    .description("Say who takes care of a call that waits. It changes nobody's rights.")
    .argument("<approval>", "id of the approval")
    .argument("[person]", "subject of the person; nobody without it");
  return command.action((approvalId: string, person = "") =>
    withClient(context, command, async (reeve) => {
      const { assignment } = await reeve.approvals.assign(approvalId, person, context);
      const assignee = oneLine(assignment?.assignee ?? "", 512) || "nobody";
      context.terminal.out(`${assignee} takes care of ${oneLine(approvalId, 256)}\n`);
    }),
  );
}
