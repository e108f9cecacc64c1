import type { DescMethod } from "@bufbuild/protobuf";
import type { ReactNode } from "react";
import { useAccess } from "./use-access.ts";

interface PermittedProps {
  /** What the children call. */
  readonly method: DescMethod;
  /** Another method that they call instead, if the roles permit it. */
  readonly or?: DescMethod | undefined;
  /** What the children let a person do, as the subject of the reason: `Starting a run`. Default: `This`. */
  readonly action?: string;
  readonly children: ReactNode;
}

/** Shows its children to people whose roles permit a method, and the reason to others. */
export function Permitted({ method, or, action, children }: PermittedProps) {
  const { whyNot } = useAccess();
  const isOtherPermitted = or !== undefined && whyNot(or) === undefined;
  const reason = isOtherPermitted ? undefined : whyNot(method, action);
  return reason === undefined ? children : <p className="hint">{reason}</p>;
}
