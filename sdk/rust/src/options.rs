use std::time::Duration;

/// The address and credentials of a server, and the time limits of its client.
#[derive(Clone, Debug)]
pub struct Options {
    /// `http://host:port` or `https://host:port`.
    pub address: String,
    /// The bearer token. If `None`, requests carry no credentials.
    pub token: Option<String>,
    /// PEM certificates of the authorities to trust instead of those of the system. Used only with `https`.
    pub ca: Option<Vec<u8>>,
    /// Time limit of a request, all attempts together. Default: 10 s.
    pub request_timeout: Duration,
    /// Time limit of an upload or a download. Default: 5 min.
    pub transfer_timeout: Duration,
    /// How long a stream may be silent, heartbeats included, before its connection counts as lost. Default: 15 s.
    pub idle_timeout: Duration,
    /// How long a watch tries to reconnect without receiving anything before it gives up. Default: 30 s.
    pub reconnect_timeout: Duration,
}

impl Options {
    /// Returns options for a server, with the default time limits and without a token.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            token: None,
            ca: None,
            request_timeout: Duration::from_secs(10),
            transfer_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(15),
            reconnect_timeout: Duration::from_secs(30),
        }
    }

    /// Sets the token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}
