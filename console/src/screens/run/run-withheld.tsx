import { plural } from "../../format/amounts.ts";
import type { RunModel } from "../../run/run-model.ts";
import { Disclosure } from "../../ui/disclosure.tsx";

/** What the run could have used without the operator's policy, and which rule withheld it. Nothing if nothing was withheld. */
export function RunWithheld({ run: { prepared } }: { readonly run: RunModel }) {
  const withheld = prepared?.policy?.withheld ?? [];
  if (withheld.length === 0) return null;
  return (
    <Disclosure
      summary={
        <span className="muted">
          Withheld from this run by the operator's policy: {plural(withheld.length, "item")}
        </span>
      }
    >
      <ul className="findings" aria-label="Withheld">
        {withheld.map(({ kind, name, rule, tool }) => (
          <li key={`${kind} ${name} ${tool}`}>
            <strong className="mono">{tool || name}</strong>
            <span className="muted">
              {` (${kind.replace("_", " ")}${tool === "" ? "" : `: ${name}`}), by rule ${rule}`}
            </span>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
