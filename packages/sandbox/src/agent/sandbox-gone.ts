import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A sandbox ended before a command started in it. The command's input is unread, so another sandbox may run it. */
export class SandboxGone extends Failure {
  constructor(problem: string) {
    super("unavailable", ErrorReason.UNAVAILABLE, problem);
  }
}
