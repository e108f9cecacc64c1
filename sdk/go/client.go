package reeve

import (
	"context"
	"crypto/rand"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	approvalv1 "reeve.dev/sdk/go/gen/reeve/approval/v1"
	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
)

// Client is a client of a server. It is safe for concurrent use. Each request ends within the RequestTimeout. While no server
// can be reached, the client repeats the request within that time; a repeated request never has a second effect. An error
// of the server is an *Error.
type Client struct {
	source *source
}

// Connect returns a client of a server. The client connects with its first request.
func Connect(options Options) (*Client, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	source := &source{settings: settings}
	if source.current, err = source.open(); err != nil {
		return nil, err
	}
	return &Client{source}, nil
}

// Connection returns the current connection. Pass it to the generated clients to call methods that Client does not have.
func (c *Client) Connection() *grpc.ClientConn { return c.source.get() }

// Close closes the connection, and ends all requests on it.
func (c *Client) Close() error { return c.source.get().Close() }

// StartRun starts a run. The same RequestId always returns the same run, even in another process. If it is empty, a new run is
// started.
func (c *Client) StartRun(ctx context.Context, request *runv1.StartRunRequest) (*runv1.Run, error) {
	if request.GetRequestId() == "" {
		// The caller may send its message again, for another run.
		request = proto.CloneOf(request)
		request.RequestId = rand.Text()
	}
	response, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.StartRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).StartRun(ctx, request)
	})
	return response.GetRun(), err
}

// Watch returns the events of a run until its end. The caller must close the watch.
func (c *Client) Watch(runID string, options WatchOptions) *Watch {
	return &Watch{source: c.source, runID: runID, options: options, through: options.After, token: options.ResumeToken}
}

// GetRun returns the current state of a run.
func (c *Client) GetRun(ctx context.Context, runID string) (*runv1.Run, error) {
	response, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.GetRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).GetRun(ctx, &runv1.GetRunRequest{RunId: runID})
	})
	return response.GetRun(), err
}

// Cancel cancels a run. Cancelling a cancelled run succeeds. Cancelling a run that ended otherwise returns an error with
// reason RUN_ENDED.
func (c *Client) Cancel(ctx context.Context, runID, reason string) (*runv1.Run, error) {
	request := &runv1.CancelRunRequest{RunId: runID, Reason: reason}
	response, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.CancelRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).CancelRun(ctx, request)
	})
	return response.GetRun(), err
}

// ListApprovals returns the pending approvals of a run, or of all runs if runID is empty, oldest first.
func (c *Client) ListApprovals(ctx context.Context, runID string) ([]*approvalv1.Approval, error) {
	var found []*approvalv1.Approval
	request := &approvalv1.ListApprovalsRequest{RunId: runID}
	for {
		page, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*approvalv1.ListApprovalsResponse, error) {
			return approvalv1.NewApprovalServiceClient(c.source.get()).ListApprovals(ctx, request)
		})
		if err != nil {
			return nil, err
		}
		found = append(found, page.Approvals...)
		if page.NextPageToken == "" {
			return found, nil
		}
		request.PageToken = page.NextPageToken
	}
}

// Answer answers a question of an agent as somebody who asked for its run, or declines it. People with the role approver may use Decide.
func (c *Client) Answer(ctx context.Context, request *approvalv1.AnswerQuestionRequest) (*approvalv1.Approval, error) {
	if request.GetDecisionId() == "" {
		request = proto.CloneOf(request)
		request.DecisionId = rand.Text()
	}
	response, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*approvalv1.AnswerQuestionResponse, error) {
		return approvalv1.NewApprovalServiceClient(c.source.get()).AnswerQuestion(ctx, request)
	})
	return response.GetApproval(), err
}

// Decide decides an approval. Exactly one decision takes effect; any other returns an error with reason APPROVAL_CLOSED.
func (c *Client) Decide(ctx context.Context, request *approvalv1.DecideApprovalRequest) (*approvalv1.Approval, error) {
	if request.GetDecisionId() == "" {
		request = proto.CloneOf(request)
		request.DecisionId = rand.Text()
	}
	response, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*approvalv1.DecideApprovalResponse, error) {
		return approvalv1.NewApprovalServiceClient(c.source.get()).DecideApproval(ctx, request)
	})
	return response.GetApproval(), err
}
