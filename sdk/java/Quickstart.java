import dev.reeve.approval.v1.*;
import dev.reeve.client.*;
import dev.reeve.run.v1.*;
import dev.reeve.tool.v1.WorkspaceFile;
import java.nio.file.*;

class Quickstart {
  public static void main(String[] args) throws Exception {
    var options = ReeveOptions.of(System.getenv("REEVE_URL"), System.getenv("REEVE_TOKEN"));
    try (var reeve = ReeveClient.connect(options)) {
      var content = Files.newInputStream(Path.of("examples/csv-report/sales.csv"));
      var artifact = reeve.upload("data.csv", "text/csv", content);
      var file = WorkspaceFile.newBuilder().setArtifactId(artifact.getArtifactId()).setPath("data.csv");
      var request = StartRunRequest.newBuilder().setAgentId("csv-report").setInput("Summarize the file.").addFiles(file);
      var watch = reeve.watch(reeve.startRun(request.build()).getRunId());
      while (watch.hasNext()) {
        var event = watch.next();
        System.out.print(event.getText().getText());
        if (event.getStep().getState() == StepState.STEP_STATE_COMPLETED) System.out.println();
        var approval = event.getApproval().getApproval();
        if (approval.getState() == ApprovalState.APPROVAL_STATE_PENDING) {
          var decision = DecideApprovalRequest.newBuilder().setApprovalId(approval.getApprovalId());
          reeve.decide(decision.setApproved(true).build());
        }
      }
      System.out.println("\n" + watch.endStatus());
    }
  }
}
