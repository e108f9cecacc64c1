use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::interceptor::InterceptedService;
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use crate::error::Error;
use crate::options::Options;

/// A connection for the generated clients: `RunServiceClient::new(client.connection())`.
pub type Connection = InterceptedService<Channel, Bearer>;

/// Adds the bearer token to each request.
#[derive(Clone, Debug)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// Holds the current connection, and replaces it when it becomes silent.
pub(crate) struct Source {
    pub(crate) options: Options,
    endpoint: Endpoint,
    bearer: Bearer,
    current: Mutex<(u64, Channel)>,
}

impl Source {
    pub(crate) fn new(options: Options) -> Result<Self, Error> {
        let endpoint = endpoint_of(&options)?;
        let token = options.token.as_ref().map(|token| format!("Bearer {token}").parse());
        let token =
            token.transpose().map_err(|_| Error::invalid("the token has characters that are invalid in a header"))?;
        let current = Mutex::new((0, endpoint.connect_lazy()));
        Ok(Self { options, endpoint, bearer: Bearer(token), current })
    }

    /// Returns the current connection and its number.
    pub(crate) fn numbered(&self) -> (u64, Connection) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        (current.0, InterceptedService::new(current.1.clone(), self.bearer.clone()))
    }

    pub(crate) fn get(&self) -> Connection {
        self.numbered().1
    }

    /// Replaces the suspect connection, unless it was already replaced. The old connection is closed when its last user drops it.
    pub(crate) fn renew(&self, suspect: u64) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 == suspect {
            *current = (suspect + 1, self.endpoint.connect_lazy());
        }
    }
}

fn endpoint_of(options: &Options) -> Result<Endpoint, Error> {
    let address = &options.address;
    let invalid_address = || Error::invalid(format!("\"{address}\" is not a server address; use http://host:port"));
    let endpoint = Endpoint::from_shared(address.clone()).map_err(|_| invalid_address())?;
    let endpoint = endpoint
        .connect_timeout(Duration::from_secs(5))
        .http2_keep_alive_interval(Duration::from_secs(10))
        .keep_alive_timeout(Duration::from_secs(5));
    match endpoint.uri().scheme_str() {
        Some("http") => Ok(endpoint),
        Some("https") => {
            let tls = match &options.ca {
                Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)),
                None => ClientTlsConfig::new().with_native_roots(),
            };
            endpoint
                .tls_config(tls)
                .map_err(|error| Error::invalid(format!("`ca` contains no usable certificates: {error}")))
        }
        _ => Err(invalid_address()),
    }
}
