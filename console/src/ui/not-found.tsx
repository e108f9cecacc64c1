import { Link } from "@tanstack/react-router";
import { Empty } from "./empty.tsx";

export function NotFound() {
  return (
    <Empty title="There is no such screen">
      The address may be mistyped. <Link to="/runs">Show all runs</Link>
    </Empty>
  );
}
