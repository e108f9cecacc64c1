import { memo } from "react";
import { citedPassages, placeOf } from "../../../run/cited-passages.ts";
import type { RunModel } from "../../../run/run-model.ts";
import { Disclosure } from "../../../ui/disclosure.tsx";

interface SourcesProps {
  readonly run: RunModel;
  /** Changes when something in the run has changed. */
  readonly version: number;
}

/** The passages of documents that the answers of a run cite. Renders nothing when they cite none. */
export const Sources = memo(function Sources({ run }: SourcesProps) {
  const passages = citedPassages(run);
  if (passages.length === 0) return null;
  return (
    <section className="plan" aria-label="Sources">
      <h2>Sources</h2>
      <ol>
        {passages.map((passage) => (
          <li key={placeOf(passage)}>
            <Disclosure name={`source ${placeOf(passage)}`} summary={placeOf(passage)}>
              <pre className="code">{passage.text}</pre>
            </Disclosure>
          </li>
        ))}
      </ol>
    </section>
  );
});
