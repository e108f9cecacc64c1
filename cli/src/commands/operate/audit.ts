import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AuditEvent, ListAuditEventsOptions } from "@reeve/client";
import { AuditOutcome } from "@reeve/client";
import { AuditEventSchema, AuditPhase } from "@reeve/contracts/audit";
import { Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";
import { parseLimit, parseTime } from "../parse-option.ts";

/** How many events a table shows without `--limit`. */
const defaultRows = 100;
/** After how many events an export reports its progress. */
const reportedEvents = 10_000;

interface Options {
  readonly since?: Date;
  readonly until?: Date;
  readonly subject?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly outcome?: "ok" | "failed";
  readonly withoutTenant?: true;
  readonly withoutReads?: true;
  readonly limit?: number;
  readonly json?: true;
}

const outcomes = { ok: AuditOutcome.OK, failed: AuditOutcome.FAILED } as const;

/** Lists or exports the audit trail. */
export function auditCommand(context: Context): Command {
  const command = new Command("audit")
    .description(
      "Show who did what, or tried to, newest first. Needs the role operator.\n\n" +
        `On a terminal, prints a table of ${defaultRows} events. Otherwise, and with --json, prints all events, one per line as JSON.`,
    )
    .option("--since <time>", "only events since then: 2030-01-31T00:00:00Z, or 1h ago", parseTime)
    .option("--until <time>", "only events before then", parseTime)
    .option("--subject <subject>", "only events of this person or program")
    .option("--action <action>", "only events with this action, such as run.start or run")
    .option("--resource <id>", "only events of the resource with this id")
    .addOption(
      new Option("--outcome <outcome>", "only calls that ended so").choices(Object.keys(outcomes)),
    )
    .option(
      "--without-tenant",
      "events of callers who could not be authenticated, for the tenant of REEVE_AUDIT_TENANT",
    )
    .option("--without-reads", "leave out calls that only read, and succeeded")
    .option("--limit <number>", "maximum number of events", parseLimit)
    .option("--json", "print one event per line as JSON");
  return command.action((options: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const isExport = options.json === true || !terminal.isInteractive;
      const limit = options.limit ?? (isExport ? undefined : defaultRows);
      const filter = filterOf(options);
      const events = reeve.audit.list({ ...filter, signal, ...(limit !== undefined && { limit }) });
      if (isExport) return await exportEvents(events, context);
      const rows = await Array.fromAsync(events, rowOf);
      if (rows.length === 0) terminal.note("no events\n");
      else terminal.out(table(["TIME", "SUBJECT", "ACTION", "RESOURCE", "OUTCOME", "FROM"], rows));
    }),
  );
}

function filterOf(options: Options): ListAuditEventsOptions {
  const { since, until, subject, action, resource, outcome, withoutTenant, withoutReads } = options;
  return {
    since,
    until,
    subject,
    action,
    resourceId: resource,
    outcome: outcome && outcomes[outcome],
    withoutTenant,
    withoutReads,
  };
}

async function exportEvents(
  events: AsyncIterable<AuditEvent>,
  { terminal }: Context,
): Promise<void> {
  let count = 0;
  for await (const event of events) {
    terminal.out(jsonLine(AuditEventSchema, event));
    count++;
    if (count % reportedEvents === 0) terminal.note(`${count} events\n`);
  }
  if (count >= reportedEvents) terminal.note(`${count} events in total\n`);
}

function rowOf(event: AuditEvent): readonly string[] {
  const { time, subject, action, resources, clientAddress, lost } = event;
  const ids = resources.map(({ kind, id }) => `${kind} ${id}`).join(", ");
  return [
    time === undefined ? "" : timestampDate(time).toISOString(),
    oneLine(subject, 40),
    oneLine(action, 40),
    oneLine(lost > 0 ? `${lost} events lost` : ids, 100),
    oneLine(outcomeOf(event), 60),
    clientAddress,
  ];
}

function outcomeOf({ code, reason, phase, count, choices }: AuditEvent): string {
  const begun = phase === AuditPhase.BEGIN ? "BEGIN" : code;
  const why = reason === "" || reason === code ? "" : ` ${reason}`;
  const chosen = Object.entries(choices).map(([name, value]) => ` ${name}=${value}`);
  return `${begun}${why}${chosen.join("")}${count > 1 ? ` (${count} times)` : ""}`;
}
