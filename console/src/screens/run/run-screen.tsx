import { Link, getRouteApi } from "@tanstack/react-router";
import { Suspense, lazy } from "react";
import { roleName, useAccess } from "../../access/use-access.ts";
import { retried } from "../../loading/retried.ts";
import { useRunFeed } from "../../run/feed/use-run-feed.ts";
import { Empty } from "../../ui/empty.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Conversation } from "./conversation/conversation.tsx";
import { EventList } from "./events/event-list.tsx";
import { FilesView } from "./files/files-view.tsx";
import { RunHead } from "./run-head.tsx";
import { Timeline } from "./timeline/timeline.tsx";
import { TreeView } from "./tree-view.tsx";
import "../../styles/run.css";
import "../../styles/conversation.css";

const route = getRouteApi("/runs/$runId/{-$view}");

/** Few runs have a graph, so what draws it is loaded when it is shown. */
const loadGraph = retried(() => import("./graph/graph-view.tsx"));
const GraphView = lazy(async () => ({ default: (await loadGraph()).GraphView }));

const views = {
  conversation: { name: "Conversation", View: Conversation },
  timeline: { name: "Timeline", View: Timeline },
  graph: { name: "Graph", View: GraphView },
  tree: { name: "Tree", View: TreeView },
  events: { name: "Events", View: EventList },
  files: { name: "Files", View: FilesView },
} as const;

function isView(name: string | undefined): name is keyof typeof views {
  return name !== undefined && Object.hasOwn(views, name);
}

/** One run: what it does now, and everything that it did. All views show the same events. */
export function RunScreen() {
  const { runId, view } = route.useParams();
  const snapshot = useRunFeed(runId);
  const shown = isView(view) ? view : "conversation";
  const { View } = views[shown];
  const isWorkflow = snapshot.run.spec?.workflow !== undefined;
  const shownViews = Object.entries(views).filter(([key]) => key !== "graph" || isWorkflow);
  if (snapshot.state === "refused" && snapshot.run.events.length === 0 && snapshot.problem) {
    return (
      <Empty title="This run cannot be shown">
        <ProblemView problem={snapshot.problem} />
        <WhoMayLook />
        <Link to="/runs">Show all runs</Link>
      </Empty>
    );
  }
  return (
    <div className="run-page">
      <RunHead snapshot={snapshot} />
      <nav className="tabs" aria-label="Views of the run">
        {shownViews.map(([key, { name }]) => (
          <Link
            key={key}
            to="/runs/$runId/{-$view}"
            params={{ runId, view: key === "conversation" ? undefined : key }}
            className="tab"
            activeOptions={{ exact: true }}
            replace
          >
            {name}
            {key === "events" && <span className="count">{snapshot.run.events.length}</span>}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<p className="loading">Loading the view …</p>}>
        <View snapshot={snapshot} />
      </Suspense>
    </div>
  );
}

/** A shared link may lead to a run of another tenant than that of the reader, which the server does not distinguish from a missing one. */
function WhoMayLook() {
  const { caller } = useAccess();
  if (caller === undefined) return null;
  return (
    <p className="hint">
      A link to a run works for everyone in its tenant with the role viewer. You are signed in as{" "}
      {caller.subject} of the tenant {caller.tenant}, with{" "}
      {caller.roles.map(roleName).join(", ") || "no role"}.
    </p>
  );
}
