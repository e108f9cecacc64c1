import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Agent, AgentSpec, Client } from "@reeve/client";
import { AgentSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";
import { changedFields, changedNames, specDiff } from "./spec-diff.ts";
import { printList } from "../print-list.ts";
import { parseLimit } from "../parse-option.ts";

/** Lists the stored revisions of an agent. */
export function revisionsCommand(context: Context): Command {
  const command = new Command("revisions")
    .description("List the stored revisions of an agent, the newest first. At most 64 are stored.")
    .argument("<agent>", "id of the agent")
    .option("--json", "print one revision per line as JSON");
  const format = {
    header: ["REVISION", "TIME", "BY", "MODEL", "NAME"],
    row: rowOf,
    empty: "no revisions",
  };
  return command.action((agentId: string, { json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const revisions = reeve.agents.revisions(agentId, context);
      await printList(context.terminal, AgentSchema, revisions, format, json === true);
    }),
  );
}

function rowOf({ revision, updatedAt, createdBy, spec }: Agent): readonly string[] {
  return [
    String(revision),
    updatedAt === undefined ? "" : timestampDate(updatedAt).toISOString(),
    oneLine(createdBy, 40),
    oneLine(spec?.model ?? "", 60),
    oneLine(spec?.name ?? "", 60),
  ];
}

/** Shows what two revisions of an agent differ in. */
export function diffCommand(context: Context): Command {
  const command = new Command("diff")
    .description("Show in which fields two revisions of an agent differ.")
    .argument("<agent>", "id of the agent")
    .argument("[from]", "earlier revision (default: the one before `to`)", parseLimit)
    .argument("[to]", "later revision (default: the current one)", parseLimit)
    .option("--json", "print the changed fields as JSON");
  return command.action(
    (
      agentId: string,
      from: number | undefined,
      to: number | undefined,
      { json }: { json?: true },
    ) =>
      withClient(context, command, async (reeve) => {
        const { terminal } = context;
        const revisions = await revisionsOf(reeve, agentId, context.signal);
        const after = specAt(revisions, agentId, to ?? revisions[0]?.revision ?? 0);
        const before = specAt(revisions, agentId, from ?? after.revision - 1);
        const fields = changedFields(before.spec, after.spec);
        if (json === true) {
          const result = { agent: agentId, from: before.revision, to: after.revision, fields };
          terminal.out(`${JSON.stringify(result)}\n`);
        } else if (fields.length === 0) {
          terminal.note(`revisions ${before.revision} and ${after.revision} are equal\n`);
        } else terminal.out(await specDiff(before.spec, after.spec, terminal));
      }),
  );
}

/** Stores an earlier revision of an agent again. */
export function rollbackCommand(context: Context): Command {
  const command = new Command("rollback")
    .description("Store the spec of an earlier revision of an agent again, as a new revision.")
    .argument("<agent>", "id of the agent")
    .argument("[revision]", "revision (default: the one before the current one)", parseLimit);
  return command.action((agentId: string, revision: number | undefined) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const revisions = await revisionsOf(reeve, agentId, signal);
      const current = specAt(revisions, agentId, revisions[0]?.revision ?? 0);
      const earlier = specAt(revisions, agentId, revision ?? current.revision - 1);
      const fields = changedFields(current.spec, earlier.spec);
      if (fields.length === 0) {
        terminal.out(
          `agent ${agentId} is equal to revision ${earlier.revision}; nothing was changed\n`,
        );
        return;
      }
      const options = { revision: current.revision, signal };
      const { agent, warnings } = await reeve.agents.update(earlier.spec, options);
      for (const warning of warnings) terminal.note(`warning: ${oneLine(warning, 500)}\n`);
      terminal.out(
        `agent ${agentId} has the spec of revision ${earlier.revision} again (revision ${agent.revision}): ${changedNames(fields)}\n`,
      );
    }),
  );
}

async function revisionsOf(
  reeve: Client,
  agentId: string,
  signal: AbortSignal,
): Promise<readonly Agent[]> {
  return await Array.fromAsync(reeve.agents.revisions(agentId, { signal }));
}

interface SpecRevision {
  readonly revision: number;
  readonly spec: AgentSpec;
}

/** Throws a Failure that names the revisions that exist. */
function specAt(revisions: readonly Agent[], agentId: string, revision: number): SpecRevision {
  const spec = revisions.find((each) => each.revision === revision)?.spec;
  if (spec !== undefined) return { revision, spec };
  const stored = revisions.map((each) => each.revision);
  throw new Failure(
    "not_found",
    ErrorReason.AGENT_NOT_FOUND,
    `agent ${agentId} has no stored revision ${revision}; it has ${Math.min(...stored)} to ${Math.max(...stored)}`,
  );
}
