package reeve

import (
	"context"
	"errors"
	"io"

	artifactv1 "reeve.dev/sdk/go/gen/reeve/artifact/v1"
)

const chunkBytes = 256 * 1024

// Upload stores a file. It is not repeated if the connection breaks, because the content has been consumed. An empty media
// type means application/octet-stream.
func (c *Client) Upload(ctx context.Context, name, mediaType string, content io.Reader) (*artifactv1.Artifact, error) {
	ctx, cancel := context.WithTimeout(ctx, c.source.settings.TransferTimeout)
	defer cancel()
	stream, err := artifactv1.NewArtifactServiceClient(c.source.get()).UploadArtifact(ctx)
	if err != nil {
		return nil, errorFrom(err)
	}
	header := &artifactv1.ArtifactHeader{Name: name, MediaType: mediaType}
	part := &artifactv1.UploadArtifactRequest{Part: &artifactv1.UploadArtifactRequest_Header{Header: header}}
	buffer := make([]byte, chunkBytes)
	for {
		// If the server refuses the upload, Send fails, and CloseAndRecv returns the error.
		if err := stream.Send(part); err != nil {
			break
		}
		read, err := io.ReadFull(content, buffer)
		if read == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		part = &artifactv1.UploadArtifactRequest{Part: &artifactv1.UploadArtifactRequest_Chunk{Chunk: buffer[:read]}}
	}
	response, err := stream.CloseAndRecv()
	if err != nil {
		return nil, errorFrom(err)
	}
	return response.Artifact, nil
}

// Download writes the bytes of a stored file to into, and returns the description of the file.
func (c *Client) Download(ctx context.Context, artifactID string, into io.Writer) (*artifactv1.Artifact, error) {
	ctx, cancel := context.WithTimeout(ctx, c.source.settings.TransferTimeout)
	defer cancel()
	request := &artifactv1.DownloadArtifactRequest{ArtifactId: artifactID}
	stream, err := artifactv1.NewArtifactServiceClient(c.source.get()).DownloadArtifact(ctx, request)
	if err != nil {
		return nil, errorFrom(err)
	}
	var artifact *artifactv1.Artifact
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return artifact, nil
		}
		if err != nil {
			return nil, errorFrom(err)
		}
		if described := message.GetArtifact(); described != nil {
			artifact = described
		}
		if _, err := into.Write(message.GetChunk()); err != nil {
			return nil, err
		}
	}
}
