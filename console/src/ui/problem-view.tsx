import type { Problem } from "../api/problem.ts";

interface ProblemViewProps {
  readonly problem: Problem;
  readonly onRetry?: (() => void) | undefined;
}

/** A request that failed: what, why, and what to do. */
export function ProblemView({ problem, onRetry }: ProblemViewProps) {
  const { title, message, reason, violations, advice } = problem;
  // The message of a request that is not valid is made of its violations.
  const isRepeated =
    violations.length > 0 && violations.every(({ description }) => message.includes(description));
  return (
    <div className="problem" role="alert">
      <strong>{title}</strong>
      {!isRepeated && <p>{message}</p>}
      {violations.length > 0 && (
        <ul>
          {violations.map(({ field, description }) => (
            <li key={`${field} ${description}`}>
              <code>{field}</code> {description}
            </li>
          ))}
        </ul>
      )}
      {advice !== "" && <p className="muted">{advice}</p>}
      <div className="row">
        {reason !== "" && <code className="muted">{reason}</code>}
        {onRetry !== undefined && (
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
