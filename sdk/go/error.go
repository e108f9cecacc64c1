package reeve

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Violation is a field of a request that violates the contract.
type Violation struct {
	Field       string
	Description string
}

// Error is the error of a request; use errors.As to extract it. Switch on Reason, or on Code if the reason is empty; never on
// the message.
type Error struct {
	// Code is the gRPC status code.
	Code codes.Code
	// Reason is a value of reeve.error.v1.ErrorReason without its prefix, for example RUN_NOT_FOUND; CONNECTION_LOST if no
	// server could be reached in time; or empty if the response is not from a Reeve server.
	Reason     string
	Message    string
	Violations []Violation
	Metadata   map[string]string
	// RetryAfter is the delay before the next attempt. Zero if the server did not request one.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Reason, e.Message)
}

// Transient reports whether the same request may succeed later, or through another server.
func (e *Error) Transient() bool {
	return e.Code == codes.Unavailable
}

// lostCodes are the status codes of broken connections. A response of a Reeve server always has details.
var lostCodes = map[codes.Code]bool{
	codes.Aborted: true, codes.Canceled: true, codes.DeadlineExceeded: true,
	codes.Internal: true, codes.Unavailable: true, codes.Unknown: true,
}

// errorFrom converts the error of a gRPC call.
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

// lost returns the error of a connection that counts as lost although the network reported no error.
func lost(format string, args ...any) *Error {
	return &Error{Code: codes.Unavailable, Reason: "CONNECTION_LOST", Message: fmt.Sprintf(format, args...)}
}
