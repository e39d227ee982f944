//! The TLS doors: certificates made at each start by an authority that lives as long as the process, and a listener
//! that hands out connections once their handshake is done. Must never let a slow handshake keep others waiting, and
//! must never write a key to a disk.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

/// Connections whose handshake is done and which nobody took yet.
const WAITING_MAX: usize = 64;

/// Everything in PEM.
#[derive(Debug)]
pub(super) struct Certificates {
    /// Who signed the others.
    pub(super) authority: String,
    server: String,
    server_key: String,
    /// What a client may show.
    pub(super) client: String,
    /// Its key.
    pub(super) client_key: String,
}

impl Certificates {
    /// A new authority, with a certificate for this machine and one for a client.
    pub(super) fn make() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut parameters = CertificateParams::new(Vec::new())?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.distinguished_name.push(DnType::CommonName, "Plimsoll's lab");
        let authority = parameters.self_signed(&key)?.pem();
        let issuer = Issuer::new(parameters, key);
        let (server_key, client_key) = (KeyPair::generate()?, KeyPair::generate()?);
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let server = CertificateParams::new(names)?.signed_by(&server_key, &issuer)?;
        let mut client = CertificateParams::new(Vec::new())?;
        client.distinguished_name.push(DnType::CommonName, "a client");
        let client = client.signed_by(&client_key, &issuer)?;
        Ok(Self {
            authority,
            server: server.pem(),
            server_key: server_key.serialize_pem(),
            client: client.pem(),
            client_key: client_key.serialize_pem(),
        })
    }

    /// How this door greets.
    pub(super) fn server(&self, door: Door) -> anyhow::Result<Arc<ServerConfig>> {
        let builder = match door {
            Door::Open => ServerConfig::builder().with_no_client_auth(),
            Door::CertificatesOnly => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_slice(self.authority.as_bytes())?)?;
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build()?;
                ServerConfig::builder().with_client_cert_verifier(verifier)
            }
        };
        let chain = vec![CertificateDer::from_pem_slice(self.server.as_bytes())?];
        let key = PrivateKeyDer::from_pem_slice(self.server_key.as_bytes())?;
        let mut config = builder.with_single_cert(chain, key).context("could not use the certificate just made")?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Whom a door lets in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Door {
    /// Everybody.
    Open,
    /// Who shows a certificate of our authority.
    CertificatesOnly,
}

/// Connections after their handshake.
#[derive(Debug)]
pub(crate) struct TlsDoor {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsDoor {
    /// Begins to accept.
    pub(super) fn open(listener: TcpListener, config: Arc<ServerConfig>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (send, ready) = mpsc::channel(WAITING_MAX);
        tokio::spawn(greet(listener, TlsAcceptor::from(config), send));
        Ok(Self { ready, address })
    }
}

async fn greet(listener: TcpListener, acceptor: TlsAcceptor, ready: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>) {
    while let Ok((stream, peer)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            // A handshake that fails is the client's to notice.
            if let Ok(stream) = acceptor.accept(stream).await {
                let _ = ready.send((stream, peer)).await;
            }
        });
    }
}

impl Listener for TlsDoor {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The accept loop has ended for want of descriptors: nobody comes any more.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
