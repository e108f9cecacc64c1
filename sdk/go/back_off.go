package reeve

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 5 * time.Second
)

// backOff waits before the next attempt: with exponential backoff and jitter, but at least as long as the server requested.
// It returns err if it is permanent, and not for a reason in passing, or if the next attempt would start after until, and ctx.Err() if
// ctx ends first.
func backOff(ctx context.Context, err *Error, failures int, until time.Time, passing ...string) error {
	upper := min(firstDelay<<min(failures-1, 10), maxDelay)
	delay := max(upper/2+rand.N(upper/2), err.RetryAfter)
	isTransient := err.Transient() || slices.Contains(passing, err.Reason)
	if !isTransient || time.Now().Add(delay).After(until) {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}

// retry sends a request that is safe to repeat, and repeats it while no server can be reached. The timeout applies to all
// attempts together.
func retry[Response any](
	ctx context.Context, timeout time.Duration, request func(context.Context) (Response, error),
) (Response, error) {
	until := time.Now().Add(timeout)
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for failures := 1; ; failures++ {
		response, err := request(bounded)
		if err == nil {
			return response, nil
		}
		if ctx.Err() != nil {
			return response, ctx.Err()
		}
		if err := backOff(ctx, errorFrom(err), failures, until); err != nil {
			return response, err
		}
	}
}
