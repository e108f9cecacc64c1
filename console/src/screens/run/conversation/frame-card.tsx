import { memo } from "react";
import { formatDollars, plural } from "../../../format/amounts.ts";
import { stateOfFrame } from "../../../run/call-state.ts";
import { failuresInside } from "../../../run/findings.ts";
import type { Frame, RunModel } from "../../../run/run-model.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { Elapsed } from "../../../ui/times.tsx";
import type { FrameView } from "./frame-view.ts";

interface FrameCardProps {
  readonly frame: Frame;
  readonly run: RunModel;
  readonly version: number;
  readonly view: FrameView;
}

/** A subtask, or the planner: closed until a person opens it, with its state, duration, and cost in view. */
export const FrameCard = memo(function FrameCard({ frame, run, view }: FrameCardProps) {
  const calls = frame.items.filter(({ kind }) => kind === "call").length;
  const failed = failuresInside(frame, run);
  const ended = frame.endedAtMs ?? (frame.state === "running" ? run.endedAtMs : undefined);
  return (
    <div className="card frame" data-node={frame.id}>
      <Disclosure
        name={frame.id}
        summary={
          <span className="card-head">
            <span className="card-title">{frame.title || "Subtask"}</span>
            <span className="card-args muted">{calls > 0 ? plural(calls, "call") : ""}</span>
            {failed > 0 && <span className="bad">{plural(failed, "failure")} inside</span>}
            {frame.costUsd > 0 && (
              <span className="muted tabular">{formatDollars(frame.costUsd)}</span>
            )}
            <span className="muted tabular">
              <Elapsed from={frame.startedAtMs} to={ended} />
            </span>
            <Badge {...stateOfFrame(frame, run)} />
          </span>
        }
      >
        {view(frame, run)}
      </Disclosure>
      {frame.state === "failed" && frame.message !== "" && (
        <p className="card-line bad">{frame.message}</p>
      )}
    </div>
  );
});
