import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.reeve.approval.v1.ApprovalState;
import dev.reeve.approval.v1.DecideApprovalRequest;
import dev.reeve.client.ReeveClient;
import dev.reeve.client.ReeveException;
import dev.reeve.client.ReeveOptions;
import dev.reeve.client.ToolExecutor;
import dev.reeve.run.v1.StartRunRequest;
import dev.reeve.tool.v1.ClientManifest;
import dev.reeve.tool.v1.ClientTool;
import dev.reeve.tool.v1.OfferToolsRequest;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.Collectors;

/** Test driver of the Java client: executes one operation per process, and reports it as lines of JSON. */
class Driver {
  public static void main(String[] args) throws Exception {
    String token = System.getenv("REEVE_TOKEN");
    var options =
        ReeveOptions.of(System.getenv("REEVE_URL"), token.isEmpty() ? null : token)
            .withTimes(
                milliseconds("REEVE_REQUEST_MS"), milliseconds("REEVE_IDLE_TIMEOUT_MS"), milliseconds("REEVE_RECONNECT_TIMEOUT_MS"));
    String ca = System.getenv("REEVE_CA");
    if (!ca.isEmpty()) {
      options = options.withCa(Files.readAllBytes(Path.of(ca)));
    }
    try (var reeve = ReeveClient.connect(options)) {
      perform(reeve, args);
    } catch (ReeveException error) {
      var fields = error.violations().stream().map(each -> text(each.field())).collect(Collectors.joining(","));
      report("{\"error\":{\"code\":%s,\"reason\":%s,\"message\":%s,\"fields\":[%s]}}",
          text(error.code().name()), text(error.reason()), text(error.getMessage()), fields);
    }
    // Threads of the connection would delay the exit of the process.
    System.exit(0);
  }

  private static void perform(ReeveClient reeve, String[] args) throws Exception {
    switch (args[0]) {
      case "start" -> {
        var request = StartRunRequest.newBuilder().setAgentId(args[1]).setInput(args[2]).setRequestId(args[3]);
        report("{\"run\":%s}", text(reeve.startRun(request.build()).getRunId()));
      }
      case "watch" -> watch(reeve, args[1], Integer.parseInt(args[2]));
      case "approve" -> reeve.listApprovals(args[1]).forEach(each -> decide(reeve, each.getApprovalId()));
      case "measure" -> {
        long startedAt = System.nanoTime();
        int events = 0;
        for (var watch = reeve.watch(args[1]); watch.hasNext(); watch.next()) {
          events += 1;
        }
        report("{\"count\":%d,\"ms\":%d}", events, (System.nanoTime() - startedAt) / 1_000_000);
      }
      case "tools" -> {
        var property = Struct.newBuilder().putFields("type", value("string"));
        var properties = Struct.newBuilder().putFields("text", Value.newBuilder().setStructValue(property).build());
        var schema =
            Struct.newBuilder()
                .putFields("type", value("object"))
                .putFields("properties", Value.newBuilder().setStructValue(properties).build());
        var echo = ClientTool.newBuilder().setName("echo").setDescription("Repeats a text.").setInputSchema(schema);
        var manifest = ClientManifest.newBuilder().setClientId("driver").addTools(echo);
        reeve.serveTools(
            OfferToolsRequest.newBuilder().setRunId(args[1]).setManifest(manifest).build(),
            call -> {
              report("{\"served\":%s}", text(call.getCallId()));
              return ToolExecutor.Result.of("echo " + call.getArguments().getFieldsOrThrow("text").getStringValue());
            });
        report("{\"left\":true}");
      }
      case "cancel" -> report("{\"status\":%d}", reeve.cancel(args[1], "enough").getStatusValue());
      default -> {
        var path = Path.of(args[1]);
        var stored = reeve.upload(path.getFileName().toString(), "text/plain", Files.newInputStream(path));
        var content = new ByteArrayOutputStream();
        var artifact = reeve.download(stored.getArtifactId(), content);
        var digest = MessageDigest.getInstance("SHA-256").digest(content.toByteArray());
        report("{\"size\":%d,\"name\":%s,\"sha256\":%s}",
            artifact.getSizeBytes(), text(artifact.getName()), text(HexFormat.of().formatHex(digest)));
      }
    }
  }

  private static void watch(ReeveClient reeve, String runId, int after) {
    var watch = reeve.watch(runId, after, null);
    while (watch.hasNext()) {
      var event = watch.next();
      report("{\"event\":%d}", event.getSequence());
      var approval = event.getApproval().getApproval();
      if (approval.getState() == ApprovalState.APPROVAL_STATE_PENDING) {
        decide(reeve, approval.getApprovalId());
      }
    }
    report("{\"ended\":%d,\"through\":%d}", watch.endStatus().getNumber(), watch.throughSequence());
  }

  private static void decide(ReeveClient reeve, String approvalId) {
    reeve.decide(DecideApprovalRequest.newBuilder().setApprovalId(approvalId).setApproved(true).build());
    report("{\"approved\":%s}", text(approvalId));
  }

  private static Value value(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }

  private static Duration milliseconds(String name) {
    return Duration.ofMillis(Long.parseLong(System.getenv(name)));
  }

  private static String text(String value) {
    return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s+", " ") + '"';
  }

  private static void report(String line, Object... values) {
    System.out.println(line.formatted(values));
    System.out.flush();
  }
}
