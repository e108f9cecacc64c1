import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ThreadMessage } from "@reeve/contracts/thread";
import { Role, ThreadService } from "@reeve/contracts/thread";
import { useEffect } from "react";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { Markdown } from "../../ui/content/markdown.tsx";
import { MessageParts } from "../../ui/content/message-parts.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { buildWorkflowName } from "../workflows/plan/read-plan.ts";
import { PastPlan } from "./past-plan.tsx";
import { StoredTree } from "./stored-tree.tsx";

interface PastTurnsProps {
  readonly threadId: string;
  /** The number of turns that have ended: the messages are read again when it changes. */
  readonly turns: number;
  /** The run whose turn is shown live. Its messages are left out until it is no longer active. */
  readonly activeRunId: string;
}

/** The messages of the turns that have ended, with what their runs did. */
export function PastTurns({ threadId, turns, activeRunId }: PastTurnsProps) {
  const { data, error, refetch } = useQuery(ThreadService.method.listThreadMessages, {
    threadId,
    pageSize: 1_000,
  });
  useEffect(() => {
    if (turns > 0) void refetch();
  }, [turns, refetch]);
  if (error !== null) return <ProblemView problem={problemOf(error)} />;
  return (
    <ol className="items">
      {(data?.messages ?? [])
        .filter(({ runId }) => runId !== activeRunId)
        .map((message, index, all) => (
          // Messages are only added at the end.
          <li key={index}>
            {message.role === Role.USER ? (
              <div className="message user">
                <Markdown text={message.text} />
                <MessageParts parts={message.parts} />
              </div>
            ) : (
              <Answer message={message} isLast={index === all.length - 1} />
            )}
          </li>
        ))}
    </ol>
  );
}

interface AnswerProps {
  readonly message: ThreadMessage;
  /** Whether no message follows it. */
  readonly isLast: boolean;
}

function Answer({ message, isLast }: AnswerProps) {
  const nodes = message.executionTree?.nodes ?? [];
  return (
    <div className="message agent">
      {nodes.length > 0 && <StoredTree nodes={nodes} />}
      {nodes.some(({ name }) => name === buildWorkflowName) && (
        <Disclosure isOpen={isLast} summary="Planned workflow">
          <PastPlan runId={message.runId} />
        </Disclosure>
      )}
      <Markdown text={message.text} />
      {message.omittedTextBytes > 0 && (
        <p className="note">The answer has {message.omittedTextBytes} bytes. The run shows it.</p>
      )}
      {message.error !== "" && <p className="note bad">{message.error}</p>}
      <p className="sub">
        <Link to="/runs/$runId/{-$view}" params={{ runId: message.runId }}>
          Show the run
        </Link>
        {nodes.length > 0 && <span>{plural(nodes.length, "call")}</span>}
      </p>
    </div>
  );
}
