// A tool provider in Go with two tools: digest, and countdown, which reports progress and can be cancelled.
//
// The first argument is the address to listen on. If PROVIDER_TOKEN is set, callers must send it as a bearer token.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	pb "reeve.dev/examples/tool-provider-go/toolprovider"
)

type stream = grpc.ServerStreamingServer[pb.ExecuteToolResponse]

type tool struct {
	described *pb.ProvidedTool
	execute   func(arguments map[string]any, to stream) error
}

var tools = map[string]tool{
	"digest": {
		described: &pb.ProvidedTool{
			Name:            "digest",
			Description:     "Returns the SHA-256 of a text in hexadecimal.",
			InputSchema:     object(map[string]any{"text": map[string]any{"type": "string"}}, "text"),
			PermissionClass: "safe",
			Idempotent:      true,
		},
		execute: digest,
	},
	"countdown": {
		described: &pb.ProvidedTool{
			Name:        "countdown",
			Description: "Counts down to zero, and reports its progress.",
			InputSchema: object(map[string]any{
				"from":          map[string]any{"type": "integer", "minimum": 1, "maximum": 1000},
				"pause_seconds": map[string]any{"type": "number"},
			}, "from"),
			PermissionClass: "safe",
		},
		execute: countDown,
	},
}

func digest(arguments map[string]any, to stream) error {
	text, _ := arguments["text"].(string)
	sum := sha256.Sum256([]byte(text))
	return to.Send(result(&pb.ProvidedResult{Content: hex.EncodeToString(sum[:])}))
}

func countDown(arguments map[string]any, to stream) error {
	total, _ := arguments["from"].(float64)
	pause, given := arguments["pause_seconds"].(float64)
	if !given {
		pause = 1
	}
	for done := 1.0; done <= total; done++ {
		select {
		case <-to.Context().Done():
			return to.Context().Err()
		case <-time.After(time.Duration(pause * float64(time.Second))):
		}
		report := &pb.ProvidedProgress{Progress: done, Total: &total, Message: fmt.Sprintf("%g to go", total-done)}
		event := &pb.ExecuteToolResponse_Progress{Progress: report}
		if err := to.Send(&pb.ExecuteToolResponse{Event: event}); err != nil {
			return err
		}
	}
	return to.Send(result(&pb.ProvidedResult{Content: "lift-off"}))
}

func result(value *pb.ProvidedResult) *pb.ExecuteToolResponse {
	return &pb.ExecuteToolResponse{Event: &pb.ExecuteToolResponse_Result{Result: value}}
}

func object(properties map[string]any, required ...any) *structpb.Struct {
	schema, err := structpb.NewStruct(map[string]any{
		"type":                 "object",
		"properties":           properties,
		"required":             required,
		"additionalProperties": false,
	})
	if err != nil {
		log.Fatal(err)
	}
	return schema
}

type provider struct {
	pb.UnimplementedToolProviderServiceServer
}

func (provider) DescribeTools(context.Context, *pb.DescribeToolsRequest) (*pb.DescribeToolsResponse, error) {
	response := &pb.DescribeToolsResponse{}
	for _, each := range tools {
		response.Tools = append(response.Tools, each.described)
	}
	return response, nil
}

func (provider) ExecuteTool(request *pb.ExecuteToolRequest, to stream) error {
	found, known := tools[request.GetName()]
	if !known {
		return status.Errorf(codes.NotFound, "unknown tool %s", request.GetName())
	}
	return found.execute(request.GetArguments().AsMap(), to)
}

// authorize returns an error if the caller did not send the token.
func authorize(ctx context.Context, token string) error {
	given := metadata.ValueFromIncomingContext(ctx, "authorization")
	if token == "" || len(given) == 1 && subtle.ConstantTimeCompare([]byte(given[0]), []byte("Bearer "+token)) == 1 {
		return nil
	}
	return status.Error(codes.Unauthenticated, "missing or invalid token")
}

func main() {
	address := "127.0.0.1:50072"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	token := os.Getenv("PROVIDER_TOKEN")
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := authorize(ctx, token); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.StreamInterceptor(func(service any, to grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := authorize(to.Context(), token); err != nil {
				return err
			}
			return next(service, to)
		}),
	)
	pb.RegisterToolProviderServiceServer(server, provider{})
	fmt.Printf("listening on %s\n", listener.Addr())
	log.Fatal(server.Serve(listener))
}
