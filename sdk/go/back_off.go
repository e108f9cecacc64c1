package reeve

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 5 * time.Second
)

// backOff waits before the next attempt: longer each time, not all clients at once, and no less than the server asked for.
// It returns err instead if that would be later than until, and the error of the context if that ends.
func backOff(ctx context.Context, err *Error, failures int, until time.Time) error {
	most := min(firstDelay<<min(failures-1, 10), longestDelay)
	delay := max(most/2+rand.N(most/2), err.RetryAfter)
	if !err.Transient() || time.Now().Add(delay).After(until) {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}

// persistently makes a request that may be repeated, again while no server can be reached, for a time in all.
func persistently[Response any](
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
