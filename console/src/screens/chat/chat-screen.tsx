import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { ThreadService } from "@reeve/contracts/thread";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { msOf } from "../../format/time.ts";
import { Icon } from "../../ui/icons.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { Chat } from "./chat.tsx";
import "../../styles/conversation.css";
import "../../styles/inbox.css";
import "../../styles/chat.css";

const route = getRouteApi("/chat/{-$threadId}");

/** The threads of the tenant, and the conversation of one of them. */
export function ChatScreen() {
  const { threadId } = route.useParams();
  const { agent, workflow } = route.useSearch();
  const threads = useQuery(
    ThreadService.method.listThreads,
    { pageSize: 100 },
    { refetchInterval: 5_000 },
  );
  return (
    <>
      <PageHead title="Chat" />
      {threads.error !== null && <ProblemView problem={problemOf(threads.error)} />}
      <div className="inbox">
        <div>
          <Link
            to="/chat/{-$threadId}"
            params={{ threadId: undefined }}
            search={{}}
            className="button"
            aria-keyshortcuts="n"
          >
            <Icon name="plus" />
            New thread
          </Link>
          <ol className="inbox-list threads" aria-label="Threads">
            {(threads.data?.threads ?? []).map((thread) => (
              <li key={thread.threadId}>
                <Link
                  to="/chat/{-$threadId}"
                  params={{ threadId: thread.threadId }}
                  search={{}}
                  className="inbox-item"
                  aria-current={thread.threadId === threadId ? "true" : undefined}
                >
                  <span className="clip">{thread.title || thread.threadId}</span>
                  <span className="sub">
                    <Ago ms={msOf(thread.updatedAt)} />
                    <span>{plural(thread.endedTurns, "turn")}</span>
                    {thread.activeRunId !== "" && <span className="label">active</span>}
                  </span>
                </Link>
              </li>
            ))}
          </ol>
        </div>
        <Chat
          key={`${threadId ?? ""} ${workflow ?? "-"}`}
          threadId={threadId}
          agentId={agent}
          workflowId={workflow}
        />
      </div>
    </>
  );
}
