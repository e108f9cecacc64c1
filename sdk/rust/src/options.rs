use std::time::Duration;

/// Where a server is, and how long its client bears what goes wrong.
#[derive(Clone, Debug)]
pub struct Options {
    /// `http://host:port` or `https://host:port`.
    pub address: String,
    /// The bearer token. None: none is sent.
    pub token: Option<String>,
    /// Certificates, in PEM, of the authorities to trust instead of those of the system. Only with `https`.
    pub ca: Option<Vec<u8>>,
    /// How long a request may take, all attempts together. Default: 10 s.
    pub request_timeout: Duration,
    /// How long a file may be on its way. Default: 5 min.
    pub transfer_timeout: Duration,
    /// How long a stream may say nothing, heartbeats included, until its connection counts as lost. Default: 15 s.
    pub silence: Duration,
    /// How long nothing may come of any attempt to watch until that is given up. Default: 30 s.
    pub patience: Duration,
}

impl Options {
    /// A server at an address, with the defaults and without a token.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            token: None,
            ca: None,
            request_timeout: Duration::from_secs(10),
            transfer_timeout: Duration::from_secs(300),
            silence: Duration::from_secs(15),
            patience: Duration::from_secs(30),
        }
    }

    /// The same with a token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}
