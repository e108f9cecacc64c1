import { Link } from "@tanstack/react-router";
import { formatDollars, plural } from "../../format/amounts.ts";
import { decisionsOf, decisiveFailure, failuresOf } from "../../run/findings.ts";
import type { RunModel } from "../../run/run-model.ts";
import { Badge } from "../../ui/badge.tsx";
import { Clock } from "../../ui/times.tsx";
import { Votes } from "../approval/vote-progress.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";

/** More are in the views of the run. */
const maxListed = 50;

/** What failed in a run, however deep, and who decided what. Nothing if there is neither. */
export function RunFindings({ run }: { readonly run: RunModel }) {
  const failures = failuresOf(run);
  const decisions = decisionsOf(run);
  const [decision] = decisions;
  const headline = decisiveFailure(failures) ?? failures.at(-1);
  if (failures.length === 0 && decisions.length === 0) return null;
  // The headline says the whole of a failure that is alone.
  const isAlone = failures.length === 1;
  return (
    <Disclosure
      summary={
        <span className={failures.length > 0 ? "bad headline" : "muted"}>
          {[
            failures.length > 0 && plural(failures.length, "failure"),
            decisions.length > 0 && plural(decisions.length, "decision"),
          ]
            .filter((part) => part !== false)
            .join(", ")}
          {headline === undefined &&
            decision !== undefined &&
            ` · ${decision.name} ${decision.state.name}${decision.by === "" ? "" : ` by ${decision.by}`}`}
          {headline !== undefined &&
            ` · ${[...headline.path, headline.name].join(" / ")}: ${headline.why}`}
        </span>
      }
    >
      <ul className="findings" aria-label="Failures">
        {failures
          .slice(0, maxListed)
          .map(({ key, path, name, why, costUsd, withheld, sequence }) => (
            <li key={key}>
              {path.length > 0 && !isAlone && <span className="muted">{path.join(" / ")} / </span>}
              <strong>{name}</strong>
              {why !== "" && !isAlone && <span className="bad">: {why}</span>}
              {withheld !== undefined && <span> It was not allowed: {withheld}.</span>}
              {costUsd > 0 && <span className="muted"> · {formatDollars(costUsd)}</span>}
              {sequence > 0 && (
                <>
                  {" · "}
                  <Link
                    to="/runs/$runId/{-$view}"
                    params={{ runId: run.runId, view: "events" }}
                    search={{ at: sequence }}
                    aria-label={`The event with which ${name} failed`}
                  >
                    event {sequence}
                  </Link>
                </>
              )}
            </li>
          ))}
      </ul>
      <ul className="findings" aria-label="Decisions">
        {decisions.slice(0, maxListed).map(({ key, name, state, by, reason, atMs, votes }) => (
          <li key={key}>
            <strong className="mono">{name}</strong> <Badge {...state} />
            {by !== "" && ` by ${by}`}
            {atMs !== undefined && (
              <>
                {" at "}
                <Clock ms={atMs} />
              </>
            )}
            {reason !== "" && <span className="muted">: {reason}</span>}
            {votes.length > 1 && <Votes approval={{ votes }} />}
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
