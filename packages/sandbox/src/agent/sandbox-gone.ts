import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A sandbox went away before a command began there. Nothing of its input is taken: another sandbox may run it. */
export class SandboxGone extends Failure {
  constructor(problem: string) {
    super("unavailable", ErrorReason.UNAVAILABLE, problem);
  }
}
