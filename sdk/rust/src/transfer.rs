use std::future::Future;

use tokio::time::{timeout_at, Instant};
use tonic::{Status, Streaming};

use crate::error::Error;
use crate::proto::artifact::v1::download_artifact_response::Part;
use crate::proto::artifact::v1::{
    upload_artifact_request, Artifact, ArtifactHeader, DownloadArtifactResponse, UploadArtifactRequest,
};

const CHUNK_BYTES: usize = 256 * 1024;

/// A stored file and its bytes.
pub struct Download {
    pub artifact: Artifact,
    stream: Streaming<DownloadArtifactResponse>,
    until: Instant,
}

impl Download {
    pub(crate) async fn open(mut stream: Streaming<DownloadArtifactResponse>, until: Instant) -> Result<Self, Error> {
        match in_time(until, stream.message()).await?.and_then(|message| message.part) {
            Some(Part::Artifact(artifact)) => Ok(Self { artifact, stream, until }),
            _ => Err(Error::lost("the download has no description")),
        }
    }

    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        while let Some(message) = in_time(self.until, self.stream.message()).await? {
            if let Some(Part::Chunk(chunk)) = message.part {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    /// Returns all remaining bytes.
    pub async fn read(mut self) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            content.extend(chunk);
        }
        Ok(content)
    }
}

/// Returns the result of one step of a transfer. Returns an error if the transfer as a whole exceeds its time limit.
pub(crate) async fn in_time<Answer>(
    until: Instant,
    step: impl Future<Output = Result<Answer, Status>>,
) -> Result<Answer, Error> {
    let late = |_| Error::lost("the transfer exceeded its time limit");
    Ok(timeout_at(until, step).await.map_err(late)??)
}

/// Returns the messages of an upload.
pub(crate) fn upload_parts(name: String, media_type: String, content: Vec<u8>) -> Vec<UploadArtifactRequest> {
    let part = |part| UploadArtifactRequest { part: Some(part) };
    let header = upload_artifact_request::Part::Header(ArtifactHeader { name, media_type });
    let chunks = content.chunks(CHUNK_BYTES).map(|chunk| part(upload_artifact_request::Part::Chunk(chunk.to_vec())));
    std::iter::once(part(header)).chain(chunks).collect()
}
