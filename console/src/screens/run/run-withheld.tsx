import { plural } from "../../format/amounts.ts";
import type { RunModel } from "../../run/run-model.ts";
import type { Withheld } from "../../run/withheld.ts";
import { partlyDenied, toolWarnings, withheldFrom } from "../../run/withheld.ts";
import { Disclosure } from "../../ui/disclosure.tsx";

/**
 * The tools and models that the run could not use, or not with all arguments, and what withheld each. What the agent itself does not
 * name is closed and not counted. Nothing if nothing was withheld.
 */
export function RunWithheld({ run }: { readonly run: RunModel }) {
  const { false: withheld = [], true: unnamed = [] } = Object.groupBy(withheldFrom(run), (each) =>
    each.isUnnamed ? "true" : "false",
  );
  const listed = [...withheld, ...partlyDenied(run)];
  const warnings = toolWarnings(run);
  const { excludedCount = 0, excludedTools = [] } = run.prepared?.plan ?? {};
  const unlisted = Math.max(0, excludedCount - excludedTools.length);
  const count = listed.length + warnings.length;
  if (count + unnamed.length + unlisted === 0) return null;
  const others = unnamed.length > 0 && (
    <Disclosure
      name="unnamed"
      summary={
        <span className="muted">{plural(unnamed.length, "tool")} that the agent does not name</span>
      }
    >
      <WithheldList label="Not named by the agent" withheld={unnamed} />
    </Disclosure>
  );
  const rest = unlisted > 0 && (
    <p className="muted">{plural(unlisted, "further tool")} not listed.</p>
  );
  if (count === 0) {
    return (
      <>
        {others}
        {rest}
      </>
    );
  }
  return (
    <Disclosure
      summary={<span className="muted">Not allowed in this run: {plural(count, "item")}</span>}
    >
      <WithheldList label="Withheld" withheld={listed} />
      {warnings.map((warning) => (
        <p key={warning} className="note warn">
          {warning}
        </p>
      ))}
      {others}
      {rest}
    </Disclosure>
  );
}

interface WithheldListProps {
  readonly label: string;
  readonly withheld: readonly Withheld[];
}

function WithheldList({ label, withheld }: WithheldListProps) {
  return (
    <ul className="findings" aria-label={label}>
      {withheld.map(({ kind, name, why }) => (
        <li key={`${kind} ${name}`}>
          <strong className="mono">{name}</strong>
          <span className="muted">{` (${kind}): ${why}`}</span>
        </li>
      ))}
    </ul>
  );
}
