import type { DescMethod } from "@bufbuild/protobuf";
import type { ReactNode } from "react";
import { useAccess } from "../api/use-access.ts";

interface PermittedProps {
  /** What the children call. */
  readonly method: DescMethod;
  readonly children: ReactNode;
}

/** Shows its children to people whose roles permit a method, and the reason to others. */
export function Permitted({ method, children }: PermittedProps) {
  const reason = useAccess().whyNot(method);
  return reason === undefined ? children : <p className="hint">{reason}</p>;
}
