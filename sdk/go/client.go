package reeve

import (
	"context"
	"crypto/rand"

	"google.golang.org/grpc"
	approvalv1 "reeve.dev/sdk/go/gen/reeve/approval/v1"
	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
)

// Client is a client of a server, safe for concurrent use. Every request ends within the RequestTimeout, and is repeated in that
// time while no server can be reached, never with a second effect. What is refused is an *Error.
type Client struct {
	source *source
}

// Connect opens a client. It connects with its first request.
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

// Connection is for the generated clients, for all that has no method here.
func (c *Client) Connection() *grpc.ClientConn { return c.source.get() }

// Close closes the connection and whatever goes over it.
func (c *Client) Close() error { return c.source.get().Close() }

// StartRun starts a run. Repeated with the same RequestId, also by another process, it is the same run; without one it is a
// new one.
func (c *Client) StartRun(ctx context.Context, request *runv1.StartRunRequest) (*runv1.Run, error) {
	if request.RequestId == "" {
		request.RequestId = rand.Text()
	}
	response, err := persistently(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.StartRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).StartRun(ctx, request)
	})
	return response.GetRun(), err
}

// Watch gives the events of a run, to its end. Close it.
func (c *Client) Watch(runID string, options WatchOptions) *Watch {
	return &Watch{source: c.source, runID: runID, options: options, through: options.After}
}

// GetRun returns a run as it stands.
func (c *Client) GetRun(ctx context.Context, runID string) (*runv1.Run, error) {
	response, err := persistently(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.GetRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).GetRun(ctx, &runv1.GetRunRequest{RunId: runID})
	})
	return response.GetRun(), err
}

// Cancel cancels a run. A run that was cancelled before stays so; one that ended otherwise is refused with RUN_ENDED.
func (c *Client) Cancel(ctx context.Context, runID, reason string) (*runv1.Run, error) {
	request := &runv1.CancelRunRequest{RunId: runID, Reason: reason}
	response, err := persistently(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*runv1.CancelRunResponse, error) {
		return runv1.NewRunServiceClient(c.source.get()).CancelRun(ctx, request)
	})
	return response.GetRun(), err
}

// ListApprovals returns the approvals that are pending, oldest first: of a run, or of all if runID is empty.
func (c *Client) ListApprovals(ctx context.Context, runID string) ([]*approvalv1.Approval, error) {
	var found []*approvalv1.Approval
	request := &approvalv1.ListApprovalsRequest{RunId: runID}
	for {
		page, err := persistently(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*approvalv1.ListApprovalsResponse, error) {
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

// Decide decides an approval. Of several decisions one wins; the others are refused with APPROVAL_CLOSED.
func (c *Client) Decide(ctx context.Context, request *approvalv1.DecideApprovalRequest) (*approvalv1.Approval, error) {
	if request.DecisionId == "" {
		request.DecisionId = rand.Text()
	}
	response, err := persistently(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*approvalv1.DecideApprovalResponse, error) {
		return approvalv1.NewApprovalServiceClient(c.source.get()).DecideApproval(ctx, request)
	})
	return response.GetApproval(), err
}
