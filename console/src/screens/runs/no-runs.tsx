import { Link } from "@tanstack/react-router";
import { Empty } from "../../ui/empty.tsx";

/** What the list shows before the first run. */
export function NoRuns() {
  return (
    <Empty title="No run yet">
      <p>
        <Link to="/start">Start one here</Link>, or from a terminal:
      </p>
      <pre className="code">
        {`reeve agents apply -f examples/csv-report/agent.yaml
reeve run csv-report "Summarize data.csv" --file examples/csv-report/sales.csv=data.csv`}
      </pre>
    </Empty>
  );
}
