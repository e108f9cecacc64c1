import { plural } from "../../format/amounts.ts";
import type { RunModel } from "../../run/run-model.ts";
import { withheldFrom } from "../../run/withheld.ts";
import { Disclosure } from "../../ui/disclosure.tsx";

/** The deployment's tools and models that the run could not use, and what withheld each. Nothing if nothing was withheld. */
export function RunWithheld({ run }: { readonly run: RunModel }) {
  const withheld = withheldFrom(run);
  const { excludedCount = 0, excludedTools = [] } = run.prepared?.plan ?? {};
  const unlisted = Math.max(0, excludedCount - excludedTools.length);
  if (withheld.length === 0) return null;
  return (
    <Disclosure
      summary={
        <span className="muted">
          Not allowed in this run: {plural(withheld.length + unlisted, "item")}
        </span>
      }
    >
      <ul className="findings" aria-label="Withheld">
        {withheld.map(({ kind, name, why }) => (
          <li key={`${kind} ${name}`}>
            <strong className="mono">{name}</strong>
            <span className="muted">{` (${kind}): ${why}`}</span>
          </li>
        ))}
      </ul>
      {unlisted > 0 && <p className="muted">{plural(unlisted, "further tool")} not listed.</p>}
    </Disclosure>
  );
}
