package reeve

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Violation is a field of a request that breaks the contract.
type Violation struct {
	Field       string
	Description string
}

// Error is why something did not succeed; errors.As finds it. Switch on Reason, or on Code where it is empty; never on the
// message.
type Error struct {
	// Code is the gRPC status code.
	Code codes.Code
	// Reason is a name of reeve.error.v1.ErrorReason without its prefix, as RUN_NOT_FOUND; CONNECTION_LOST when no server could
	// be reached in time; empty when what answered is no Reeve.
	Reason     string
	Message    string
	Violations []Violation
	Metadata   map[string]string
	// RetryAfter is how long to wait before another attempt, when the server says so.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Reason, e.Message)
}

// Transient tells whether the same may succeed at another time, or by another way.
func (e *Error) Transient() bool {
	return e.Code == codes.Unavailable
}

// What a connection that broke is called. An answer of the server has details and is none of these.
var lostCodes = map[codes.Code]bool{
	codes.Aborted: true, codes.Canceled: true, codes.DeadlineExceeded: true,
	codes.Internal: true, codes.Unavailable: true, codes.Unknown: true,
}

// errorFrom reads what a server, or the way to it, gave.
func errorFrom(err error) *Error {
	if already, ok := err.(*Error); ok {
		return already
	}
	given := status.Convert(err)
	found := &Error{Code: given.Code(), Message: given.Message()}
	answered := false
	for _, detail := range given.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			found.Reason, found.Metadata, answered = detail.Reason, detail.Metadata, true
		case *errdetails.BadRequest:
			for _, each := range detail.FieldViolations {
				found.Violations = append(found.Violations, Violation{each.Field, each.Description})
			}
		case *errdetails.RetryInfo:
			found.RetryAfter = detail.RetryDelay.AsDuration()
		}
	}
	if !answered && lostCodes[found.Code] {
		found.Code, found.Reason = codes.Unavailable, "CONNECTION_LOST"
	}
	return found
}

// lost is a connection that is lost although nothing said so.
func lost(format string, args ...any) *Error {
	return &Error{Code: codes.Unavailable, Reason: "CONNECTION_LOST", Message: fmt.Sprintf(format, args...)}
}
